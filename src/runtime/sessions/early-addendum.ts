import { AGENT } from '../../core/log/event-metadata.ts';
import type { RecordedEvent } from '../../core/log/recorded-event.ts';
import { decide, type SessionPolicy } from '../../core/session/session-decider.ts';
import { begun, requestedTurn, type SessionState } from '../../core/session/session-state.ts';
import type { CompleteStep } from '../../core/turn/turn-commands.ts';
import type { Addendum } from '../../ports/event-store.ts';

/**
 * The end of a turn whose reply is whole before its message is written: one append for both, so that the client waits for
 * one commit.
 *
 * @param step null as long as the reply is not whole.
 * @param recorded the events that begin the turn.
 * @param state before these events.
 */
export function addendumOf(
  step: CompleteStep | null,
  recorded: readonly RecordedEvent[],
  policy: SessionPolicy,
  state: SessionState,
): Addendum | null {
  const requested = recorded[0]?.event;
  const cause = recorded.at(-1)?.meta?.id;
  if (!step || requested?.type !== 'turn.requested') return null;
  const begunTurn = { ...state, open: begun(requestedTurn(requested)) };
  const events = decide(begunTurn, step, policy);
  const open = requested.options?.ephemeral === true;
  return { events, open, origin: { actor: AGENT, causationId: cause ?? step.turnId } };
}
