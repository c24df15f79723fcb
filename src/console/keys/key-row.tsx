import type { ApiKeyRecord } from '../../core/access/api-key-record.ts';
import { Badge, type Tone } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import style from './keys.module.css';

const tones: Readonly<Record<ApiKeyRecord['status'], Tone>> = {
  active: 'good',
  expired: 'neutral',
  revoked: 'bad',
};

interface KeyRowProps {
  readonly record: ApiKeyRecord;
  readonly onRevoke: () => void;
}

export function KeyRow({ record, onRevoke }: KeyRowProps) {
  const { keyId, name, roles, tenant, status, createdAt, expiresAt } = record;
  return (
    <tr>
      <th scope="row">
        {name} <code className={style.id}>{keyId}</code>
      </th>
      <td>{roles.join(', ')}</td>
      <td>{tenant}</td>
      <td>
        <Badge tone={tones[status]}>{status}</Badge>
      </td>
      <td data-label="created">
        <Day of={createdAt} />
      </td>
      <td data-label="expires">{expiresAt === undefined ? 'never' : <Day of={expiresAt} />}</td>
      <td>
        {status === 'active' && (
          <Button kind="danger" onClick={onRevoke} aria-label={`Revoke ${name} ${keyId}`}>
            Revoke
          </Button>
        )}
      </td>
    </tr>
  );
}

function Day({ of: iso }: { readonly of: string }) {
  const time = new Date(iso);
  return (
    <time dateTime={iso} title={time.toLocaleString()}>
      {time.toLocaleDateString()}
    </time>
  );
}
