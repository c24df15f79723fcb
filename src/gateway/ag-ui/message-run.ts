import type { GivenMessage } from '../../core/conversation/given-message.ts';
import type { Image } from '../../core/conversation/image.ts';
import { ServiceError } from '../../core/errors.ts';
import type { CallId, TurnId } from '../../core/ids.ts';
import type { TurnOptions } from '../../core/turn/turn-options.ts';
import type { TurnMessage } from '../../ports/service-requests.ts';
import { toolOptions } from '../requests/tool-options.ts';
import { newestTurn, type RecordedTurn, recordedTurn } from '../turns/recorded-turn.ts';
import { turnMessage } from '../turns/turn-message.ts';
import type { AskedRun } from './asked-run.ts';
import { type GivenThread, givenThread } from './given-thread.ts';
import { interruptsOf } from './interrupts.ts';
import { knownMessages } from './known-messages.ts';
import { imagesId, type RunNote } from './message-ids.ts';
import { decidedIn, stateOf } from './recorded-state.ts';
import type { RunPlan } from './run-events.ts';
import type { RunInput } from './run-input.ts';
import { runKey } from './run-key.ts';
import { answerForRun, clientAnswers } from './tool-answers.ts';
import { AgUiTurnState } from './turn-state.ts';

/** How often a run looks again for the turn that answers its message. In a cluster, the log may be read before it is told. */
const MAX_LOOKS = 3;

/**
 * Starts the turn that answers the newest message. If another run has started it already, the run tells that turn; so does a
 * run that is asked for again.
 * @param head seq of the last event of the session; 0 if there is none.
 */
export async function messageRun(asked: AskedRun, head: number, looks = 1): Promise<RunPlan> {
  const { input, maxImageBytes } = asked;
  const sent = givenThread(input.messages, { maxImageBytes, isKnown: head > 0 });
  const known = head > 0 ? await knownMessages(asked, sent, head) : null;
  const thread = known ? withoutKnown(sent, known.ids) : sent;
  // Other messages, such as one that was edited, would come behind the newest one.
  const found = thread.history.length === 1 ? known : null;
  // The page was asked for none of the answers that its turn has got.
  if (found?.answeredBy) return toldTurn(asked, found.answeredBy, thread, decidedIn);
  const isUnanswered = found?.isUnanswered ?? false;
  const message = await messageOf(asked, thread, isUnanswered);
  const mayLookAgain = isUnanswered && looks < MAX_LOOKS;
  // Another run may have answered the message meanwhile, or a turn at work may answer it.
  const follows = { turnId: '', seq: head };
  const turnId = mayLookAgain
    ? await startedAtOnce(asked, { ...message, follows })
    : await started(asked, message);
  if (turnId === null) return messageRun(asked, await headOf(asked), looks + 1);
  if (turnId !== message.turnId) return toldTurn(asked, turnId, thread);
  return { turn: new AgUiTurnState(turnId), afterSeq: head, decided: [], warnings: thread.warnings };
}

async function headOf({ bus, context, sessionId }: AskedRun): Promise<number> {
  return (await bus.send('session.position', { sessionId }, context)).head;
}

/** @param isInThread whether the session has the newest message already, and nothing else is new: the turn brings none. */
async function messageOf(
  { sessionId, input }: AskedRun,
  thread: GivenThread,
  isInThread: boolean,
): Promise<TurnMessage> {
  const split = splitThread(thread);
  const { given, newest, messageIds } = isInThread
    ? { given: [], newest: NO_MESSAGE, messageIds: [] }
    : split;
  const note: RunNote = { runId: input.runId, messageIds };
  return turnMessage({
    sessionId,
    ...newest,
    ...((isInThread || given.length > 0) && { given }),
    key: await runKey(input, split.newest),
    options: { ...optionsOf(input, thread.instructions), note: { agUi: note } },
  });
}

/**
 * A turn that has begun, from its beginning. The run ends at the first pause of the turn.
 * @param decided the ids of what was decided until now, for a run that goes on beyond the pauses for that.
 */
async function toldTurn(
  { bus, context, sessionId, use }: AskedRun,
  turnId: TurnId,
  { warnings }: GivenThread,
  decided: (turn: RecordedTurn) => string[] = () => [],
): Promise<RunPlan> {
  const turn = await recordedTurn(bus, { sessionId, turnId }, context);
  const { begin = 1 } = turn ?? {};
  use?.openStream();
  return {
    turn: new AgUiTurnState(turnId),
    afterSeq: begin - 1,
    decided: turn ? decided(turn) : [],
    warnings,
  };
}

/** The newest message stays: it is what the run is about. */
function withoutKnown(thread: GivenThread, known: ReadonlySet<string>): GivenThread {
  const { history, ids } = thread;
  const isNew = (_: unknown, index: number): boolean =>
    index === ids.length - 1 || !known.has(ids[index] ?? '');
  return { ...thread, history: history.filter(isNew), ids: ids.filter(isNew) };
}

const NO_MESSAGE = { text: '' };

interface SplitThread {
  readonly given: readonly GivenMessage[];
  /** Empty if the thread ends with the result of a tool. */
  readonly newest: { readonly text: string; readonly image?: Image };
  /** The client's ids of `given`, and of the newest message. */
  readonly messageIds: string[];
}

function splitThread({ history, ids }: GivenThread): SplitThread {
  const newest = history.at(-1);
  if (newest?.role !== 'user') return { given: history, newest: NO_MESSAGE, messageIds: [...ids] };
  const given = history.slice(0, -1);
  const messageIds = ids.slice(0, -1);
  const id = ids.at(-1) ?? '';
  const { text, images = [] } = newest;
  // A message has one image. The others come right before it.
  const others = images.slice(0, -1);
  if (others.length > 0) {
    given.push({ role: 'user', text: '', images: others });
    messageIds.push(imagesId(id));
  }
  const image = images.at(-1);
  return { given, newest: { text, ...(image && { image }) }, messageIds: [...messageIds, id] };
}

function optionsOf({ tools = [], context = [] }: RunInput, said: readonly string[]): TurnOptions {
  const instructions = [...said, ...context.map(({ description, value }) => `${description}: ${value}`)];
  return {
    ...(instructions.length > 0 && { instructions: instructions.join('\n\n') }),
    ...toolOptions({ tools }),
  };
}

/** Null if another turn is at work. */
async function startedAtOnce({ bus, context }: AskedRun, message: TurnMessage): Promise<TurnId | null> {
  try {
    return (await bus.send('turn.start', { ...message, whenBusy: 'reject' }, context)).turnId;
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'SESSION_BUSY') return null;
    throw error;
  }
}

/** A turn that waits for its client is over for a client that answers it and says something else at once. */
async function started(asked: AskedRun, message: TurnMessage): Promise<TurnId> {
  const { bus, context, sessionId, input } = asked;
  const start = async (whenBusy?: 'interrupt'): Promise<TurnId> =>
    (await bus.send('turn.start', { ...message, ...(whenBusy && { whenBusy }) }, context)).turnId;
  const turnId = await startedAtOnce(asked, message);
  if (turnId !== null) return turnId;
  const turn = await newestTurn(bus, sessionId, context);
  const state = turn && stateOf(turn);
  if (!state?.isPaused) return start();
  const answers = clientAnswers(input.messages, state);
  const unanswered = state.clientCalls.filter((id) => !answers.some(({ callId }) => callId === id));
  const interrupts = interruptsOf(state).map(({ id }) => id);
  if (unanswered.length > 0 || interrupts.length > 0) throw unfinished(interrupts, unanswered);
  await answerForRun(asked, answers);
  return start('interrupt');
}

function unfinished(interrupts: readonly string[], toolCallIds: readonly CallId[]): ServiceError {
  return new ServiceError('SESSION_BUSY', 'The thread waits for its client.', {
    field: interrupts.length > 0 ? 'resume' : 'messages',
    interrupts,
    toolCallIds,
    reason: 'the run before it asked for something that nobody has answered',
    suggestion:
      interrupts.length > 0
        ? 'Answer the interrupts in `resume` of a run of its own, then send the message.'
        : 'Send a tool message for each of these calls before the message.',
  });
}
