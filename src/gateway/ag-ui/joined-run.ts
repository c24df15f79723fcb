import { ServiceError } from '../../core/errors.ts';
import type { TurnId } from '../../core/ids.ts';
import type { Envelope } from '../../core/log/envelope.ts';
import { readEvents } from '../turns/read-events.ts';
import type { AskedRun } from './asked-run.ts';
import type { RunPlan } from './run-events.ts';
import { ThreadMessages } from './thread-messages.ts';
import { AgUiTurnState } from './turn-state.ts';

/** The run of an input that has nothing new. */
export async function joinedRun(asked: AskedRun): Promise<RunPlan> {
  const plan = await shownThread(asked);
  const { length } = asked.input.messages;
  if (plan.afterSeq === 0 && length > 0) throw nothingToAnswer(length - 1);
  return plan;
}

/** Shows the messages of the thread, and goes on with the turn that is open. */
export async function shownThread({ bus, context, sessionId, use }: AskedRun): Promise<RunPlan> {
  const thread = new ThreadMessages();
  /** Turns that have not begun yet: what they were asked for says how they are told. */
  const requested = new Map<TurnId, AgUiTurnState>();
  let turn: AgUiTurnState | null = null;
  let afterSeq = 0;
  for await (const envelope of readEvents(bus, { sessionId, after: 0 }, context)) {
    const { event, seq } = envelope;
    thread.take(envelope);
    if (event.type === 'turn.requested') requested.set(event.turnId, requestedTurn(envelope, event.turnId));
    if (event.type === 'turn.started') {
      turn = requested.get(event.turnId) ?? new AgUiTurnState(event.turnId);
      requested.delete(event.turnId);
    }
    turn?.take(envelope);
    if (turn?.status === 'over') turn = null;
    afterSeq = seq;
  }
  use?.openStream();
  return { turn, afterSeq, decided: [], thread: thread.all, warnings: [] };
}

function requestedTurn(request: Envelope, turnId: TurnId): AgUiTurnState {
  const turn = new AgUiTurnState(turnId);
  turn.take(request);
  return turn;
}

function nothingToAnswer(index: number): ServiceError {
  return new ServiceError(
    'INVALID_REQUEST',
    'The last message must be one of the user, or the result of a tool.',
    {
      field: `messages.${index}`,
      issue: 'the thread is new, and nothing in it asks for a reply',
    },
  );
}
