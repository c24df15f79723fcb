import type { SessionId } from '../ids.ts';
import { ANONYMOUS, type RequestContext } from '../request/request-context.ts';
import { DEFAULT_TENANT } from './identity.ts';

/*
 * A session belongs to a principal of a tenant. Its id begins with both, `acme/key:ci/default`, so that the `default` of
 * one client is not that of another. A client calls its own sessions by what follows, `default`, and all others by their
 * whole id. Sessions of nobody, as a service without authentication has them, have a bare name as id; whoever is
 * somebody calls them `default/anonymous/…`.
 */

/** Whose sessions these are. */
export type Owner = Pick<RequestContext, 'principal' | 'tenant'>;

const NOBODYS = `${DEFAULT_TENANT}/${ANONYMOUS}/`;

interface OwnNames {
  readonly prefix: string;
  /** The session that was named last, and its id. Each request asks for it several times. */
  last: { readonly name: string; readonly id: SessionId };
}

/** Each request of a client asks for them several times. */
const known = new WeakMap<Owner, OwnNames>();

function namesOf(owner: Owner): OwnNames {
  const before = known.get(owner);
  if (before) return before;
  const { principal, tenant } = owner;
  const written = `${tenant}/${inId(principal)}/`;
  const prefix = written === NOBODYS ? '' : written;
  const names = { prefix, last: { name: '', id: prefix } };
  known.set(owner, names);
  return names;
}

/** What the ids of the owner's sessions begin with. */
export function ownPrefix(owner: Owner): string {
  return namesOf(owner).prefix;
}

/** Whether the id begins as those of the owner's sessions do. For nobody, any id does. */
export function isOwn(id: SessionId, owner: Owner): boolean {
  return id.startsWith(ownPrefix(owner));
}

/** The id of the session that a client means. It may belong to somebody else. */
export function sessionIdOf(name: string, client: Owner): SessionId {
  if (name.includes('/')) return name.startsWith(NOBODYS) ? name.slice(NOBODYS.length) : name;
  const names = namesOf(client);
  if (names.last.name !== name) names.last = { name, id: names.prefix + name };
  return names.last.id;
}

/** Whether a client means the same session by both names. It may call its own one by the whole id, too. */
export function isSameSession(name: string, other: string, client: Owner): boolean {
  return name === other || sessionIdOf(name, client) === sessionIdOf(other, client);
}

/** What a client calls the session: the inverse of `sessionIdOf`. */
export function sessionNameFor(id: SessionId, client: Owner): string {
  const own = ownPrefix(client);
  if (own !== '' && id.startsWith(own)) return id.slice(own.length);
  return own === '' || id.includes('/') ? id : NOBODYS + id;
}

/** Whether the session belongs to the tenant. */
export function isOfTenant(id: SessionId, tenant: string): boolean {
  return id.includes('/') ? id.startsWith(`${tenant}/`) : tenant === DEFAULT_TENANT;
}

const PLAIN = /^[A-Za-z0-9._:@-]+$/;

/** A principal may contain any character; `/` separates the parts of an id. */
function inId(principal: string): string {
  return PLAIN.test(principal) ? principal : encodeURIComponent(principal).replace(/[~!'()*]/g, percent);
}

function percent(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

/** Selects the sessions of one principal, or of a whole tenant. */
export interface SessionsOf {
  readonly tenant: string;
  /** Absent: of everybody in the tenant. */
  readonly principal?: string;
  /** These sessions, too. */
  readonly also?: ReadonlySet<SessionId>;
}

/** What the ids of these sessions begin with. Others may begin with it too. */
export function prefixOf({ tenant, principal }: SessionsOf): string {
  if (principal !== undefined) return ownPrefix({ tenant, principal });
  return tenant === DEFAULT_TENANT ? '' : `${tenant}/`;
}

export function isAmong(id: SessionId, of: SessionsOf): boolean {
  if (of.also?.has(id)) return true;
  if (of.principal === undefined) return isOfTenant(id, of.tenant);
  const own = prefixOf(of);
  return own === '' ? !id.includes('/') : id.startsWith(own);
}
