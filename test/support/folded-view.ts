import type { Envelope } from '../../src/contract/envelope.ts';
import type { SessionView } from '../../src/contract/session-view.ts';
import { evolve, initialSessionState } from '../../src/domain/session-state.ts';
import { viewSession } from '../../src/domain/session-view.ts';

/** What a session looked like after these, its first events, folded one by one. */
export function foldedView(envelopes: readonly Envelope[], head: number): SessionView {
  const [first] = envelopes;
  const last = envelopes.at(-1);
  if (!first || !last) throw new Error('there are no events');
  const state = envelopes.reduce((folded, { event }) => evolve(folded, event), initialSessionState());
  return viewSession({ state, first, last }, head);
}
