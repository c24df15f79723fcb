import type { SessionListItem } from '../../core/session/session-view.ts';
import { count } from '../ui/quantity.ts';
import type { SessionPages } from './session-pages.ts';

/** More would make the page slow, and nobody looks through them. */
const MAX_SHOWN = 500;

export interface ShownSessions {
  readonly sessions: readonly SessionListItem[];
  /** Says that there are more; null if these are all. */
  readonly rest: string | null;
}

/**
 * The sessions for the list: the last used, and in any case the open one.
 * @param unlisted the open session if the pages do not have it.
 */
export function shownSessions(
  { sessions, isWhole }: SessionPages,
  unlisted: SessionListItem | null,
  openId: string,
): ShownSessions {
  const known = unlisted ? [unlisted, ...sessions] : sessions;
  const shown = known.filter(({ sessionId }, place) => place < MAX_SHOWN || sessionId === openId);
  if (isWhole && shown.length === known.length) return { sessions: shown, rest: null };
  const all = `${isWhole ? '' : 'more than '}${count(sessions.length)}`;
  return { sessions: shown, rest: `${count(shown.length)} of ${all} sessions. Search for the others.` };
}
