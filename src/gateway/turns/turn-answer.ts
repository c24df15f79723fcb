import type { CallId, SessionId, TurnId } from '../../core/ids.ts';
import type { IdempotencyKey } from '../../core/request/request-events.ts';
import type { Bus } from '../../ports/bus.ts';
import type { TurnMessage } from '../../ports/service-requests.ts';
import type { SessionReader } from '../security/held-session.ts';
import type { NoResult } from './answered-before.ts';
import { attending, type ReplyListener, type TurnPause } from './attended-turn.ts';
import { answerCalls, answeredWith, type CallAnswer, type ToolAnswers } from './given-answers.ts';
import {
  eventsIn,
  eventsOfTurn,
  type RecordedTurn,
  recordedTurn,
  stepWith,
  turnWithCalls,
} from './recorded-turn.ts';
import { startTurn } from './started-turn.ts';
import { pauseAfter } from './told-pause.ts';
import { replyOf, type TurnReply } from './turn-end.ts';

/** Where an answer begins in its turn. */
export interface BegunAnswer {
  readonly turnId: TurnId;
  /** The first step that it tells. The same for a request that is repeated with its key. */
  readonly firstStep: number;
  /** What earlier answers said of the reply. */
  readonly told: string;
  /** The request was repeated with its key: another one has begun this answer. */
  readonly isRepeated?: true;
}

/** Hears what happens before a turn ends. */
export interface TurnListener extends ReplyListener {
  /** The message is in the log. */
  readonly onAccepted?: (begun: BegunAnswer) => void;
}

/** A client that runs tools itself. */
export interface ToolClient extends SessionReader {
  readonly noResult: NoResult;
}

/**
 * Starts a turn and waits for its reply. Rejects with the error that ended the turn. A message that is
 * repeated with its key gets the reply of the first one.
 */
export async function answerTurn(bus: Bus, message: TurnMessage, client: SessionReader): Promise<TurnReply> {
  return attending(bus, message, { client, listener: {} }, async (turn) => {
    const { turnId, outcome } = await bus.send('turn.start', message, client.context);
    return replyOf(outcome ?? (await turn.outcomeOf(turnId)));
  });
}

/**
 * The same for a message that may have brought tools. Resolves also when only their results are missing. Rejects if
 * the turn before waits for such results.
 *
 * @param listener hears of the turn while it goes on.
 */
export async function runTurn(
  bus: Bus,
  message: TurnMessage,
  client: ToolClient,
  listener: TurnListener,
): Promise<TurnPause> {
  return attending(bus, message, { client, listener }, async (turn) => {
    const { sessionId } = message;
    const { turnId, outcome } = await startTurn(bus, message, client.context, client.noResult);
    const isOwn = turnId === message.turnId;
    listener.onAccepted?.({ turnId, firstStep: 1, told: '', ...(!isOwn && { isRepeated: true }) });
    if (outcome) return replyOf(outcome);
    if (isOwn) return turn.pause();
    // Where the turn of a repeated message is now, only the log says.
    const begun = await recordedTurn(bus, { sessionId, turnId }, client.context);
    const pause =
      begun && (await goOn(bus, { sessionId, turn: begun, answers: [], firstStep: 1 }, client, {}));
    return pause || replyOf(await turn.outcomeOf(turnId));
  });
}

/**
 * Goes on with the turn that waits for these answers, like `runTurn`. An answer that was given before is not given again. A
 * request that is repeated with its key gets what it was told. Rejects if the turn waits for other results, too.
 * @returns null if no turn of the session has asked for all of these calls, or if that turn has ended.
 */
export async function continueTurn(
  bus: Bus,
  { key, ...given }: ToolAnswers & { readonly key: IdempotencyKey | undefined },
  client: ToolClient,
  listener: TurnListener,
): Promise<TurnPause | null> {
  const { context } = client;
  const { sessionId, answers } = given;
  const callIds = answers.map(({ callId }) => callId);
  const turn = await turnWithCalls(
    bus,
    { sessionId, isWanted: ({ callId }) => callIds.includes(callId) },
    context,
  );
  if (!turn) return null;
  const { turnId, options } = turn.requested;
  const firstStep = stepWith(turn, callIds) + 1;
  const before = answeredWith({ key, context }, turn);
  if (!callIds.every((callId) => before.has(callId)))
    return goOn(bus, { sessionId, turn, answers, key, firstStep }, client, listener);
  await answerCalls({ bus, context, key }, given, before);
  const told = pauseAfter(eventsIn(turn.since, turnId), callIds, options?.output !== undefined);
  for (const step of told.steps) listener.onStep?.(step);
  if (!told.end) {
    // What was streamed until now is told only with the whole reply, so what is streamed next does not follow it.
    const { onChunk: _, ...rest } = listener;
    const repeated = { isRepeated: true, firstStep, told: told.before } as const;
    return goOn(bus, { sessionId, turn, answers: [], ...repeated }, client, rest);
  }
  listener.onAccepted?.({ turnId, firstStep, told: told.before, isRepeated: true });
  return 'outcome' in told.end ? replyOf(told.end.outcome) : told.end;
}

interface OpenTurn {
  readonly sessionId: SessionId;
  readonly turn: RecordedTurn;
  readonly answers: readonly CallAnswer[];
  readonly key?: IdempotencyKey | undefined;
  /** The first step that the answer tells. */
  readonly firstStep: number;
  /** What earlier answers said of its reply; if absent, all of it. */
  readonly told?: string;
  readonly isRepeated?: true;
}

/** Null if the turn has ended, or has not asked for all of these calls. */
async function goOn(
  bus: Bus,
  { sessionId, turn: { requested, since, head, end }, answers, key, firstStep, told, isRepeated }: OpenTurn,
  client: ToolClient,
  listener: TurnListener,
): Promise<TurnPause | null> {
  if (end !== undefined) return null;
  const { context } = client;
  const { turnId, options } = requested;
  return attending(
    bus,
    { sessionId, turnId, ...(options && { options }) },
    { client, listener },
    async (turn) => {
      for (const event of eventsIn(since, turnId)) turn.progress.note(event);
      if (!answers.every(({ callId }) => turn.progress.wasDelegated(callId))) return null;
      const open = answers.filter(({ callId }) => turn.progress.isUnsettled(callId));
      const isGiven = (callId: CallId): boolean => open.some((answer) => answer.callId === callId);
      const missing = turn.progress.missingCalls.find(({ callId }) => !isGiven(callId));
      if (missing && open.length > 0) throw client.noResult(missing.callId, sessionId);
      const place = { turnId, firstStep, told: told ?? turn.progress.reply };
      listener.onAccepted?.({ ...place, ...(isRepeated && { isRepeated }) });
      await answerCalls({ bus, context, key }, { sessionId, answers: open }, new Set());
      // What happened before the turn was attended.
      for (const event of await eventsOfTurn(bus, { sessionId, turnId, after: head }, context))
        turn.note(event);
      return turn.pause();
    },
  );
}
