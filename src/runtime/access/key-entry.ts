import type { ApiKeyCreated } from '../../core/access/api-key-events.ts';
import type { ApiKeyRecord } from '../../core/access/api-key-record.ts';
import type { Identity } from '../../core/access/identity.ts';
import { type Scope, scopesOf } from '../../core/access/scopes.ts';
import type { Envelope } from '../../core/log/envelope.ts';
import type { LoggedEvent } from '../../core/log/events.ts';
import { API_KEYS_STREAM } from '../../core/log/streams.ts';

/** What the names of principals with an API key begin with. */
export const KEY_PRINCIPAL = 'key:';

/** An API key as the log has it. Times are in milliseconds since the epoch. */
export interface KeyEntry extends Omit<ApiKeyCreated, 'type'> {
  readonly createdAt: number;
  readonly revokedAt?: number;
}

/** The entry of a key after an event about it, given the entries before. */
export function foldKey(
  entries: ReadonlyMap<string, KeyEntry>,
  { event, time }: Envelope<LoggedEvent>,
): KeyEntry {
  if (event.type === 'api-key.created') {
    const { type, ...key } = event;
    return { ...key, createdAt: time };
  }
  const entry = event.type === 'api-key.revoked' ? entries.get(event.keyId) : undefined;
  if (!entry) throw new Error(`the stream ${API_KEYS_STREAM} has an impossible event ${event.type}`);
  return { ...entry, revokedAt: time };
}

export function statusOf({ revokedAt, expiresAt }: KeyEntry, now: number): ApiKeyRecord['status'] {
  if (revokedAt !== undefined) return 'revoked';
  return expiresAt !== undefined && expiresAt <= now ? 'expired' : 'active';
}

export function recordOf(entry: KeyEntry, now: number): ApiKeyRecord {
  const { keyId, name, roles, tenant, createdAt, expiresAt, revokedAt } = entry;
  return {
    keyId,
    name,
    roles,
    tenant,
    status: statusOf(entry, now),
    createdAt: timestamp(createdAt),
    ...(expiresAt !== undefined && { expiresAt: timestamp(expiresAt) }),
    ...(revokedAt !== undefined && { revokedAt: timestamp(revokedAt) }),
  };
}

export function identityOf(
  { keyId, name, tenant, roles, expiresAt }: KeyEntry,
  defined: Readonly<Record<string, readonly Scope[]>>,
): Identity {
  const scopes = scopesOf(roles, defined);
  const expiry = expiresAt === undefined ? {} : { expiresAt };
  return {
    principal: `${KEY_PRINCIPAL}${name}`,
    tenant,
    roles,
    scopes,
    credential: `key:${keyId}`,
    ...expiry,
  };
}

function timestamp(ms: number): string {
  return new Date(ms).toISOString();
}
