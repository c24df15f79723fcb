import { z } from 'zod';

/** What a client may do. `admin` includes all others, for the whole tenant. */
export const Scope = z.enum([
  'sessions:read',
  'sessions:write',
  'approvals:decide',
  'servers:read',
  'servers:write',
  'tools:execute',
  'config:read',
  'metrics:read',
  'admin',
]);
export type Scope = z.infer<typeof Scope>;

/** What a client needs for something: one scope, or each of several. Null: any credential. */
export type NeededScopes = Scope | readonly Scope[] | null;

const USER: readonly Scope[] = ['sessions:read', 'sessions:write', 'approvals:decide', 'servers:read'];

/** The roles that every service has: names for sets of scopes. More can be configured. */
export const ROLES: Readonly<Record<string, readonly Scope[]>> = {
  reader: ['sessions:read', 'servers:read'],
  user: USER,
  approver: ['sessions:read', 'approvals:decide', 'servers:read'],
  operator: [...USER, 'servers:write', 'tools:execute', 'config:read', 'metrics:read'],
  admin: Scope.options,
};

/** The scopes of these roles together. A role that nobody has defined has none. */
export function scopesOf(
  roles: readonly string[],
  defined: Readonly<Record<string, readonly Scope[]>> = ROLES,
): ReadonlySet<Scope> {
  const scopes = new Set(
    roles.flatMap((role) => (Object.hasOwn(defined, role) ? (defined[role] ?? []) : [])),
  );
  return scopes.has('admin') ? new Set(Scope.options) : scopes;
}
