import { type FormEvent, useId, useState } from 'react';
import { post } from '../service/api.ts';
import { errorText } from '../service/api-error.ts';
import { Button } from '../ui/button.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import style from './keys.module.css';

/** What every service has. The service file can define more. */
const ROLES = ['reader', 'user', 'approver', 'operator', 'admin'];
const DAYS = [7, 30, 90, 365];
const DEFAULT_DAYS = '90';

interface CreateKeyDialogProps {
  readonly onCreated: () => void;
  readonly onClose: () => void;
}

/** Asks what the key is for, and shows the new key once. */
export function CreateKeyDialog({ onCreated, onClose }: CreateKeyDialogProps) {
  const [key, setKey] = useState<string | null>(null);
  const [isAsking, setAsking] = useState(false);
  const take = (created: string) => {
    setKey(created);
    onCreated();
  };
  return (
    <Dialog
      title={key === null ? 'Create a key' : 'The new key'}
      onClose={onClose}
      closedBy={closedBy(isAsking, key)}
    >
      {key === null ? (
        <CreateKeyForm isAsking={isAsking} setAsking={setAsking} onCreated={take} />
      ) : (
        <NewKey text={key} />
      )}
    </Dialog>
  );
}

/** A key that is not shown, or not long enough to copy it, is lost: it would stay good and nobody would have it. */
function closedBy(isAsking: boolean, key: string | null): 'any' | 'closerequest' | 'none' {
  if (key !== null) return 'closerequest';
  return isAsking ? 'none' : 'any';
}

function NewKey({ text }: { readonly text: string }) {
  return (
    <>
      <p role="status">
        Copy the key now: it is shown this once. The service keeps only a hash of it, so nobody can see it
        again.
      </p>
      <p className={style.secret}>
        <code>{text}</code>
        <CopyButton text={text} what="the key" />
      </p>
    </>
  );
}

interface CreateKeyFormProps {
  readonly isAsking: boolean;
  readonly setAsking: (isAsking: boolean) => void;
  readonly onCreated: (key: string) => void;
}

function CreateKeyForm({ isAsking, setAsking, onCreated }: CreateKeyFormProps) {
  const [name, setName] = useState('');
  const [roles, setRoles] = useState('user');
  const [days, setDays] = useState(DEFAULT_DAYS);
  const [problem, setProblem] = useState<string | null>(null);
  const id = useId();
  const onSubmit = async (event: FormEvent) => {
    event.preventDefault();
    setAsking(true);
    setProblem(null);
    const wanted = roles.split(',').map((role) => role.trim());
    const expiry = days === '' ? {} : { expiresInDays: Number(days) };
    try {
      const { key } = await post<{ key: string }>('/api/keys', {
        name: name.trim(),
        roles: wanted,
        ...expiry,
      });
      onCreated(key);
    } catch (error) {
      setProblem(errorText(error));
      setAsking(false);
    }
  };
  return (
    <form className={style.form} onSubmit={(event) => void onSubmit(event)}>
      <label htmlFor={`${id}-name`}>Name</label>
      <input
        id={`${id}-name`}
        value={name}
        onChange={({ target }) => setName(target.value)}
        aria-describedby={`${id}-name-note`}
        required
      />
      <p id={`${id}-name-note`} className={style.note}>
        Sessions belong to the name. Keys with the same name are the same principal.
      </p>
      <label htmlFor={`${id}-roles`}>Roles</label>
      <input
        id={`${id}-roles`}
        value={roles}
        onChange={({ target }) => setRoles(target.value)}
        aria-describedby={`${id}-roles-note`}
        list={`${id}-known`}
        required
      />
      <datalist id={`${id}-known`}>
        {ROLES.map((role) => (
          <option key={role} value={role} />
        ))}
      </datalist>
      <p id={`${id}-roles-note`} className={style.note}>
        {ROLES.join(', ')}, or one of the service file. Put commas between several.
      </p>
      <label htmlFor={`${id}-days`}>Expires</label>
      <select id={`${id}-days`} value={days} onChange={({ target }) => setDays(target.value)}>
        {DAYS.map((count) => (
          <option key={count} value={count}>
            in {count} days
          </option>
        ))}
        <option value="">never</option>
      </select>
      <p role="alert" className={style.error}>
        {problem}
      </p>
      <Button type="submit" kind="primary" disabled={isAsking}>
        Create
      </Button>
    </form>
  );
}
