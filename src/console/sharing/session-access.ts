import { useEffect, useState } from 'react';
import type { GrantAccess } from '../../core/access/grant.ts';
import { percentDecodedIfValid } from '../../core/percent-decoded.ts';
import type { SessionView } from '../../core/session/session-view.ts';
import { type Account, useAccount } from '../service/account.ts';
import { get } from '../service/api.ts';
import { sessionPath } from '../service/paths.ts';

/** What the reader may do in a session. */
export interface SessionAccess {
  /** Who shares the session with the reader; null for the reader's own. */
  readonly owner: string | null;
  /** Whether the reader may rename, reset, delete and share it. */
  readonly isOwn: boolean;
  readonly mayTalk: boolean;
  readonly mayApprove: boolean;
}

const OWN: SessionAccess = { owner: null, isOwn: true, mayTalk: true, mayApprove: true };

/** Whose session it is: a session of somebody else is called by its whole id, `tenant/principal/name`. */
export function ownerOf(sessionId: string): string | null {
  const [, principal, ...name] = sessionId.split('/');
  if (principal === undefined || name.length === 0) return null;
  // An id that was typed by hand may be badly encoded.
  return percentDecodedIfValid(principal);
}

/** Until the service has answered, the reader may only read. */
export function useSessionAccess(sessionId: string): SessionAccess {
  const account = useAccount();
  const owner = ownerOf(sessionId);
  const isOwn = ownsSession(account, owner);
  const [granted, setGranted] = useState<readonly GrantAccess[]>([]);
  useEffect(() => {
    if (isOwn) return undefined;
    const asking = new AbortController();
    accessOf(sessionId, asking.signal).then(setGranted, () => setGranted([]));
    return () => asking.abort();
  }, [sessionId, isOwn]);
  if (isOwn) return { ...OWN, owner };
  return { owner, isOwn, mayTalk: granted.includes('talk'), mayApprove: granted.includes('approve') };
}

function ownsSession(account: Account | null, owner: string | null): boolean {
  return (
    account === null || owner === null || owner === account.principal || account.scopes.includes('admin')
  );
}

/** Asked for the session at its beginning, because its history does not matter here. */
async function accessOf(sessionId: string, signal: AbortSignal): Promise<readonly GrantAccess[]> {
  const { session } = await get<{ session: SessionView }>(`${sessionPath(sessionId)}?at=1`, signal);
  return session.access ?? ['read', 'talk', 'approve'];
}
