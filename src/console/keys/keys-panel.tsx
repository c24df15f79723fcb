import { useState } from 'react';
import type { ApiKeyRecord } from '../../core/access/api-key-record.ts';
import { remove } from '../service/api.ts';
import { errorText } from '../service/api-error.ts';
import { Button } from '../ui/button.tsx';
import { ConfirmDialog } from '../ui/confirm-dialog.tsx';
import { PanelHeader } from '../ui/panel-header.tsx';
import { CreateKeyDialog } from './create-key-dialog.tsx';
import { KeyRow } from './key-row.tsx';
import style from './keys.module.css';
import { useKeys } from './use-keys.ts';

/** The API keys of the reader's tenant: an administrator creates and revokes them. */
export function KeysPanel() {
  const { keys, problem, refresh } = useKeys();
  const [isCreating, setCreating] = useState(false);
  const [asked, setAsked] = useState<ApiKeyRecord | null>(null);
  const [said, setSaid] = useState('');
  const revoke = ({ keyId, name }: ApiKeyRecord) => {
    remove(`/api/keys/${keyId}`).then(
      () => {
        setSaid(`The key ${keyId} of ${name} is revoked.`);
        refresh();
      },
      (error: unknown) => setSaid(errorText(error)),
    );
  };
  return (
    <>
      <PanelHeader title="API keys">
        {keys && (
          <Button kind="primary" onClick={() => setCreating(true)}>
            Create a key
          </Button>
        )}
      </PanelHeader>
      {problem !== null && (
        <p role="alert" className={style.problem}>
          {problem}
        </p>
      )}
      <p role="status" className={style.said}>
        {said}
      </p>
      {keys && <KeyTable keys={keys} onRevoke={setAsked} />}
      {isCreating && <CreateKeyDialog onCreated={refresh} onClose={() => setCreating(false)} />}
      {asked && (
        <ConfirmDialog
          title={`Revoke the key of ${asked.name}?`}
          text={`Whoever uses the key ${asked.keyId} is refused at once, and open connections end. A revoked key cannot be used again.`}
          action="Revoke"
          onConfirm={() => revoke(asked)}
          onClose={() => setAsked(null)}
        />
      )}
    </>
  );
}

interface KeyTableProps {
  readonly keys: readonly ApiKeyRecord[];
  readonly onRevoke: (key: ApiKeyRecord) => void;
}

function KeyTable({ keys, onRevoke }: KeyTableProps) {
  if (keys.length === 0) return <p className={style.empty}>There are no keys yet.</p>;
  return (
    <section className={style.scroller} aria-label="Keys">
      <table className={style.table}>
        <thead>
          <tr>
            {['Name', 'Roles', 'Tenant', 'Status', 'Created', 'Expires'].map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
            <td />
          </tr>
        </thead>
        <tbody>
          {keys.map((key) => (
            <KeyRow key={key.keyId} record={key} onRevoke={() => onRevoke(key)} />
          ))}
        </tbody>
      </table>
    </section>
  );
}
