import { asServiceError } from '../../core/errors.ts';
import type { SessionId, TurnId } from '../../core/ids.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import { outcomeOf } from '../../core/session/session-state.ts';
import { DELETED } from '../../core/turn/ending-reasons.ts';
import type { TurnOutcome } from '../../core/turn/turn-outcome.ts';
import type { Bus } from '../../ports/bus.ts';
import { recordedTurn } from './recorded-turn.ts';

/**
 * How a turn that was begun has ended, once a deletion of its session was told: its own end may not have been told before. Null
 * if it goes on, because another session with the same id was deleted. Never rejects.
 */
export async function endAfterDeletion(
  bus: Bus,
  turn: { readonly sessionId: SessionId; readonly turnId: TurnId },
  context: RequestContext,
): Promise<TurnOutcome | null> {
  try {
    const recorded = await recordedTurn(bus, turn, context);
    if (!recorded) return { status: 'cancelled', reason: DELETED };
    const ended = recorded.since.map(({ event }) => outcomeOf(event));
    return ended.find((end) => end?.turnId === turn.turnId)?.outcome ?? null;
  } catch (thrown) {
    return { status: 'failed', error: asServiceError(thrown).body };
  }
}
