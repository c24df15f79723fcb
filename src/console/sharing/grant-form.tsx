import { type FormEvent, useId, useState } from 'react';
import { post } from '../service/api.ts';
import { errorText } from '../service/api-error.ts';
import { grantsPath } from '../service/paths.ts';
import { Button } from '../ui/button.tsx';
import style from './sharing.module.css';

interface GrantFormProps {
  readonly sessionId: string;
  readonly onAdded: () => void;
  readonly onProblem: (problem: string | null) => void;
}

/** Shares the session with one more principal or role. */
export function GrantForm({ sessionId, onAdded, onProblem }: GrantFormProps) {
  const [kind, setKind] = useState<'principal' | 'role'>('principal');
  const [name, setName] = useState('');
  const [access, setAccess] = useState('read');
  const id = useId();
  const onSubmit = async (event: FormEvent) => {
    event.preventDefault();
    onProblem(null);
    try {
      await post(grantsPath(sessionId), { [kind]: name.trim(), access });
      setName('');
      onAdded();
    } catch (error) {
      onProblem(errorText(error));
    }
  };
  return (
    <form className={style.form} onSubmit={(event) => void onSubmit(event)}>
      <label htmlFor={`${id}-kind`}>Share with</label>
      <select
        id={`${id}-kind`}
        value={kind}
        onChange={({ target }) => setKind(target.value === 'role' ? 'role' : 'principal')}
      >
        <option value="principal">a principal</option>
        <option value="role">everybody with a role</option>
      </select>
      <label htmlFor={`${id}-name`}>{kind === 'role' ? 'Role' : 'Principal'}</label>
      <input
        id={`${id}-name`}
        value={name}
        onChange={({ target }) => setName(target.value)}
        placeholder={kind === 'role' ? 'user' : 'key:bob'}
        required
      />
      <label htmlFor={`${id}-access`}>For</label>
      <select id={`${id}-access`} value={access} onChange={({ target }) => setAccess(target.value)}>
        <option value="read">reading</option>
        <option value="talk">reading and talking</option>
        <option value="approve">reading and approving</option>
      </select>
      <Button type="submit" kind="primary">
        Share
      </Button>
    </form>
  );
}
