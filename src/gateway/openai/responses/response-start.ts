import { isSameSession } from '../../../core/access/session-names.ts';
import type { GivenMessage } from '../../../core/conversation/given-message.ts';
import { ServiceError } from '../../../core/errors.ts';
import type { CallId, SessionId } from '../../../core/ids.ts';
import { isSentWith } from '../../../core/request/sent-before.ts';
import type { FollowedTurn } from '../../../core/turn/turn-commands.ts';
import { newSessionId } from '../../requests/new-session-id.ts';
import { answerBefore } from '../../turns/answered-before.ts';
import type { ToolAnswers } from '../../turns/given-answers.ts';
import { type CallOfTurn, callsIn, isLastMessage, turnWithCalls } from '../../turns/recorded-turn.ts';
import { callIdFor } from '../client-tools.ts';
import { isConversationId, noConversation } from '../conversations/conversation-id.ts';
import { type AskedResponse, isUnstored } from './asked-response.ts';
import { noOutput } from './continued-response.ts';
import { type RecordedResponse, recordedResponse } from './recorded-response.ts';
import { noResponse, type ResponsePlace } from './response-id.ts';
import { restatedTurn } from './restated-turn.ts';

/** Where the turn of a response begins. */
export interface Start {
  readonly sessionId: SessionId;
  /** Seq of the session's last event, as far as it is known. */
  readonly afterSeq: number;
  readonly before?: readonly GivenMessage[];
  readonly follows?: FollowedTurn;
  /** The session was made for this response. */
  readonly isAlone?: true;
  /** Whether the session certainly does not exist yet. */
  readonly isNewSession?: true;
  /** The turn before has got what it waited for from this request, and is over for its client. */
  readonly interrupts?: true;
  /** The session has the results that the request brings: from this request, or from when it was sent before. */
  readonly knowsResults?: true;
}

/** A session that is deleted when its response is over. */
const UNSTORED = 'unstored';

/**
 * Where the request begins its turn. A request that is repeated with its key finds where it has begun.
 *
 * @param answers the results of calls that the request brings before its message.
 */
export async function startOf(
  asked: AskedResponse,
  previous: ResponsePlace | null,
  answers: ToolAnswers | null,
): Promise<Start> {
  const { bus, context, body } = asked;
  if (body.conversation !== undefined) {
    const sessionId = body.conversation;
    const { head } = await bus.send('session.position', { sessionId }, context);
    if (head === 0 && isConversationId(sessionId)) throw noConversation(sessionId, 'conversation');
    const start = { sessionId, afterSeq: head };
    if (head === 0 || !answers || !isSameSession(answers.sessionId, sessionId, context)) return start;
    const interrupts = await answerBefore({ ...asked, noResult: noOutput }, answers);
    if (interrupts) return { ...start, knowsResults: true, interrupts };
    return { ...start, ...((await hasAskedFor(asked, answers)) && { knowsResults: true }) };
  }
  if (previous) return startBehind(asked, previous, answers);
  const sessionId = await ownSession(asked);
  return { sessionId, afterSeq: 0, isAlone: true, ...(!asked.key && { isNewSession: true }) };
}

async function startBehind(
  asked: AskedResponse,
  previous: ResponsePlace,
  answers: ToolAnswers | null,
): Promise<Start> {
  const { bus, context, body } = asked;
  const { sessionId, turnId, firstStep } = previous;
  const found = await recordedResponse(bus, previous, context);
  if (!found) throw noResponse(body.previous_response_id ?? '', 'previous_response_id');
  const { turn, responses } = found;
  const follows = { turnId, seq: turn.head };
  if (hasBegunHere(asked, found)) return { sessionId, afterSeq: turn.head, follows, knowsResults: true };
  // A response that is not stored is about to be deleted, and what follows it would be deleted with it.
  if (turn.requested.options?.ephemeral && responses.isTurnOver)
    throw noResponse(body.previous_response_id ?? '', 'previous_response_id');
  const given = answers && isSameSession(answers.sessionId, sessionId, context) ? answers : null;
  const restatedTo = async (lastStep: number): Promise<Start> => {
    const namedAs = (callId: CallId): string => callIdFor(callId, given?.sessionId ?? sessionId);
    const before = restatedTurn(turn.since, turnId, { lastStep, namedAs });
    return { ...(await forked(asked, previous, turn.begin - 1)), before };
  };
  const later = responses.firstSteps.find((step) => step > firstStep);
  if (later !== undefined) return restatedTo(later - 1);
  const isGiven = (callId: CallId): boolean =>
    given?.answers.some((answer) => answer.callId === callId) === true;
  const missing = responses.missingCalls.find((callId) => !isGiven(callId));
  if (missing !== undefined) throw noOutput(missing, sessionId);
  if (responses.missingCalls.length > 0 && given) {
    const isAnswered =
      body.store !== false &&
      isLastMessage(turn) &&
      (await answerBefore({ ...asked, noResult: noOutput }, given));
    return isAnswered
      ? { sessionId, afterSeq: turn.head, interrupts: true, knowsResults: true }
      : restatedTo(Number.POSITIVE_INFINITY);
  }
  if (isLastMessage(turn) && body.store !== false) return { sessionId, afterSeq: turn.head, follows };
  if (turn.end !== undefined) return forked(asked, previous, turn.end);
  throw new ServiceError('INVALID_REQUEST', 'The previous response is still in progress.', {
    field: 'previous_response_id',
    issue: 'another message waits behind it',
  });
}

/** Whether a turn of the session has asked for all of these calls. */
async function hasAskedFor(
  { bus, context }: AskedResponse,
  { sessionId, answers }: ToolAnswers,
): Promise<boolean> {
  const callIds = answers.map(({ callId }) => callId);
  const isWanted = ({ callId }: CallOfTurn): boolean => callIds.includes(callId);
  const turn = await turnWithCalls(bus, { sessionId, isWanted }, context);
  const asked = turn ? callsIn(turn.since, turn.requested.turnId) : [];
  return callIds.every((callId) => asked.includes(callId));
}

/** Whether the request was sent before, and its message came right into the session. */
function hasBegunHere({ key, context }: AskedResponse, { turn }: RecordedResponse): boolean {
  if (!key) return false;
  const isSent = isSentWith(key, context);
  return turn.since.slice(1).some((one) => one.event.type === 'turn.requested' && isSent(one));
}

/** A new session that has the events of the previous response's session up to a seq. */
async function forked(
  asked: AskedResponse,
  { sessionId: from, turnId }: ResponsePlace,
  at: number,
): Promise<Start> {
  const { bus, context } = asked;
  const to = await ownSession(asked, from, at);
  const ephemeral = isUnstored(asked.body) || undefined;
  const headOf = async (): Promise<number> =>
    (await bus.send('session.position', { sessionId: to }, context)).head;
  const fork = async (): Promise<number> => {
    try {
      return (await bus.send('session.fork', { from, at, to, ephemeral }, context)).head;
    } catch (error) {
      // The same request, sent twice at once, may have forked it meanwhile.
      return (await headOf()) || Promise.reject(error);
    }
  };
  const known = await headOf();
  const head = known > 0 || at === 0 ? known : await fork();
  // The fork may be deleted meanwhile. The turn must not begin in a session without the conversation.
  return {
    sessionId: to,
    afterSeq: head,
    isAlone: true,
    ...(head > 0 && { follows: { turnId, seq: head } }),
  };
}

/** Deletes the fork that was made for a response that is not to be stored, once its turn was refused. */
export async function forgetFork(
  { bus, context, body }: AskedResponse,
  { sessionId, afterSeq, isAlone }: Start,
): Promise<void> {
  if (!isUnstored(body) || !isAlone || afterSeq === 0) return;
  const { head } = await bus.send('session.position', { sessionId }, context);
  // Otherwise the same request, sent twice at once, has begun its turn there.
  if (head === afterSeq) await bus.send('session.delete', { sessionId }, context);
}

/** The id of the session that is made for the response. A request that is repeated with its key gets the same one. */
function ownSession(
  { bus, context, request, body }: AskedResponse,
  ...fork: readonly [] | readonly [from: SessionId, at: number]
): Promise<SessionId> {
  const asker = { bus, context, headers: request.headers };
  return newSessionId(asker, isUnstored(body) ? UNSTORED : 'chat', ...fork);
}
