import { contentHash } from '../content-hash.ts';
import { withLists } from './session-snapshot.ts';
import type { SessionState } from './session-state.ts';

/** A hash of the whole state of a session, in hex. Equal states have equal hashes. */
export function stateHash({ open, keys, ...state }: SessionState): Promise<string> {
  return contentHash({ ...state, keys: [...keys.values()], open: open && withLists(open) });
}
