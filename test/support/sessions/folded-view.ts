import type { Envelope } from '../../../src/core/log/envelope.ts';
import { evolve, initialSessionState } from '../../../src/core/session/session-state.ts';
import type { SessionView } from '../../../src/core/session/session-view.ts';
import {
  clientCall,
  pendingApproval,
  pendingInput,
  viewSession,
} from '../../../src/core/session/view-session.ts';

/** What a session looked like after these, its first events, folded one by one. */
export function foldedView(envelopes: readonly Envelope[], head: number): SessionView {
  const [first] = envelopes;
  const last = envelopes.at(-1);
  if (!first || !last) throw new Error('there are no events');
  const state = envelopes.reduce((folded, { event }) => evolve(folded, event), initialSessionState());
  const approvals = envelopes.flatMap(({ event, time }) =>
    event.type === 'approval.requested' && state.open?.awaiting.has(event.callId)
      ? [pendingApproval(event, time)]
      : [],
  );
  const clientCalls = envelopes.flatMap(({ event, time }) =>
    event.type === 'tool-call.delegated' && state.open?.delegated.has(event.callId)
      ? [clientCall(event, time)]
      : [],
  );
  const inputs = envelopes.flatMap(({ event, time }) =>
    event.type === 'input.requested' && state.open?.asked?.has(event.inputId)
      ? [pendingInput(event, time)]
      : [],
  );
  return viewSession({ state, first, last, approvals, clientCalls, inputs }, head);
}
