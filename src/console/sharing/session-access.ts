import type { GrantAccess } from '../../core/access/grant.ts';
import { percentDecodedIfValid } from '../../core/percent-decoded.ts';
import type { SessionView } from '../../core/session/session-view.ts';
import { type Account, useAccount } from '../service/account.ts';
import { sessionPath } from '../service/paths.ts';
import { useLoaded } from '../service/use-loaded.ts';

/** What the reader may do in a session. */
export interface SessionAccess {
  /** Who shares the session with the reader; null for the reader's own. */
  readonly owner: string | null;
  /** Whether the reader may rename, reset, delete and share it. */
  readonly isOwn: boolean;
  /** Whether the service has answered. Until then, the reader may only read. */
  readonly isKnown: boolean;
  readonly mayTalk: boolean;
  readonly mayApprove: boolean;
}

const OWN: SessionAccess = { owner: null, isOwn: true, isKnown: true, mayTalk: true, mayApprove: true };
/** The access to a session that nobody had to share. */
const EVERYTHING: readonly GrantAccess[] = ['read', 'talk', 'approve'];

/** Whose session it is: a session of somebody else is called by its whole id, `tenant/principal/name`. */
export function ownerOf(sessionId: string): string | null {
  const [, principal, ...name] = sessionId.split('/');
  if (principal === undefined || name.length === 0) return null;
  // An id that was typed by hand may be badly encoded.
  return percentDecodedIfValid(principal);
}

export function useSessionAccess(sessionId: string): SessionAccess {
  const account = useAccount();
  const owner = ownerOf(sessionId);
  const isOwn = ownsSession(account, owner);
  // At its beginning, because its history does not matter here.
  const path = `${sessionPath(sessionId)}?at=1`;
  const { answer } = useLoaded<{ session: SessionView }>(isOwn ? null : path);
  if (isOwn) return { ...OWN, owner };
  const granted = answer === null ? [] : (answer.session.access ?? EVERYTHING);
  return {
    owner,
    isOwn,
    isKnown: answer !== null,
    mayTalk: granted.includes('talk'),
    mayApprove: granted.includes('approve'),
  };
}

function ownsSession(account: Account | null, owner: string | null): boolean {
  return (
    account === null || owner === null || owner === account.principal || account.scopes.includes('admin')
  );
}
