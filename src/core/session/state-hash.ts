import { contentHash } from '../content-hash.ts';
import { withLists } from './session-snapshot.ts';
import type { SessionState } from './session-state.ts';

/** Equal for equal states: of all that the log says about a session, in one short text. */
export function stateHash({ open, keys, ...state }: SessionState): Promise<string> {
  return contentHash({ ...state, keys: [...keys.values()], open: open && withLists(open) });
}
