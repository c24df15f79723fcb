import type { ApiKeyRecord } from '../../core/access/api-key-record.ts';

const HEADINGS = ['ID', 'NAME', 'ROLES', 'TENANT', 'STATUS', 'CREATED', 'EXPIRES'];

/** The keys as a table for people, with the times in UTC. */
export function keyTable(keys: readonly ApiKeyRecord[]): string {
  const rows = keys.map(({ keyId, name, roles, tenant, status, createdAt, expiresAt }) => [
    ...[keyId, name, roles.join(','), tenant, status],
    ...[minute(createdAt), expiresAt === undefined ? 'never' : minute(expiresAt)],
  ]);
  const widths = HEADINGS.map((heading, column) =>
    Math.max(heading.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]): string =>
    `${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd();
  return [HEADINGS, ...rows].map((cells) => `${line(cells)}\n`).join('');
}

/** Who the new key is, for people. It is not the key. */
export function createdLine({ keyId, name, roles, tenant, expiresAt }: ApiKeyRecord): string {
  const validity = expiresAt === undefined ? 'it never expires' : `it expires at ${expiresAt}`;
  return `created API key ${keyId} for key:${name} of tenant ${tenant}, roles ${roles.join(', ')}; ${validity}. Nobody can see it again.\n`;
}

/** What to do about a new key that nobody has. */
export function unprintedLine({ keyId }: ApiKeyRecord): string {
  return `agent-service: API key ${keyId} was created, but it could not be printed. Revoke it, and create another one: agent-service keys revoke ${keyId}\n`;
}

function minute(timestamp: string): string {
  return timestamp.slice(0, 16).replace('T', ' ');
}
