import type { GivenMessage } from '../../../core/conversation/given-message.ts';
import { ServiceError } from '../../../core/errors.ts';
import type { SessionId } from '../../../core/ids.ts';
import type { IdempotencyKey } from '../../../core/request/request-events.ts';
import type { MaxBytes } from '../../../core/size-limits.ts';
import type { FollowedTurn } from '../../../core/turn/turn-commands.ts';
import type { TurnOptions } from '../../../core/turn/turn-options.ts';
import type { Bus } from '../../../ports/bus.ts';
import type { ServedRequest } from '../../http/http-message.ts';
import { newSessionId } from '../../requests/new-session-id.ts';
import { isLastMessage, newestTurn, recordedTurn } from '../../requests/recorded-turn.ts';
import { turnMessage } from '../../requests/turn-message.ts';
import { askedOptions } from '../asked-options.ts';
import { givenConversation } from '../chat/given-conversation.ts';
import { type ToolAnswers, toolAnswers } from '../chat/tool-answers.ts';
import { callIdFor } from '../client-tools.ts';
import { isConversationId, noConversation } from '../conversations/conversation-id.ts';
import { type InputMessages, inputMessages } from './input-messages.ts';
import { itemsInPlace } from './item-references.ts';
import { recordedResponse, responsesOf } from './recorded-response.ts';
import { noResponse, type ResponsePlace, responsePlace } from './response-id.ts';
import type { ResponseNote } from './response-object.ts';
import type { ResponseRequest } from './response-request.ts';
import { restatedTurn } from './restated-turn.ts';

/** Who asks, for what. */
export interface AskedResponse {
  readonly bus: Bus;
  readonly context: ServedRequest['context'];
  readonly request: Pick<ServedRequest, 'headers'>;
  readonly body: ResponseRequest;
  readonly agentId: string;
  readonly key: IdempotencyKey | undefined;
  readonly maxImageBytes: MaxBytes;
}

/** A response that has begun. */
export interface BegunResponse {
  readonly place: ResponsePlace;
  /** Seq of an event of the session that is before the turn. */
  readonly afterSeq: number;
}

/** Where the turn of a response begins. */
interface Start {
  readonly sessionId: SessionId;
  /** Seq of the session's last event, as far as it is known. */
  readonly afterSeq: number;
  readonly before?: readonly GivenMessage[];
  readonly follows?: FollowedTurn;
  /** The session was made for this response. */
  readonly isAlone?: true;
}

/** A session that is deleted when its response is over. */
const UNSTORED = 'unstored';

/** Whether the session is deleted with its response. A conversation that the client names is not. */
export function isUnstored({ store, conversation }: ResponseRequest): boolean {
  return store === false && conversation === undefined;
}

/** How often a turn is looked at again after another message came first. */
const LOOKS = 3;

/** Answers the calls that a turn waits for, or starts a turn: in the session of the response that it follows, or in a new one. */
export async function beginResponse(asked: AskedResponse): Promise<BegunResponse> {
  const { body } = asked;
  if (body.previous_response_id !== undefined && body.conversation !== undefined) throw twoPlaces();
  const previous = previousPlace(asked);
  const goal = { field: 'input', knownIn: previous?.sessionId ?? body.conversation };
  const items = typeof body.input === 'string' ? body.input : await itemsInPlace(asked, body.input, goal);
  const input = inputMessages(items);
  const answers = toolAnswers(input.messages);
  const goesOn = answers && (await continued(asked, answers, previous));
  if (goesOn) return goesOn;
  for (let look = 1; ; look += 1) {
    try {
      return await started(asked, input, await startOf(asked, previous));
    } catch (error) {
      const isOvertaken = error instanceof ServiceError && error.code === 'SESSION_BUSY';
      if (!isOvertaken || look === LOOKS) throw error;
    }
  }
}

function previousPlace({ body, agentId }: AskedResponse): ResponsePlace | null {
  const id = body.previous_response_id;
  if (id === undefined) return null;
  const place = responsePlace(id, 'previous_response_id');
  if (place.agentId === agentId) return place;
  throw new ServiceError('INVALID_REQUEST', 'A response can only follow one of the same agent.', {
    field: 'previous_response_id',
    issue: `it is of ${place.agentId}, and the model is ${agentId}`,
  });
}

/** Null if nothing waits for these answers. */
async function continued(
  { bus, context, agentId }: AskedResponse,
  { sessionId, answers }: ToolAnswers,
  previous: ResponsePlace | null,
): Promise<BegunResponse | null> {
  if (previous && previous.sessionId !== sessionId) return null;
  const turn = previous
    ? await recordedTurn(bus, previous, context)
    : await newestTurn(bus, sessionId, context);
  if (!turn) return null;
  const { turnId } = turn.requested;
  const responses = responsesOf(turn, { agentId, sessionId, turnId, firstStep: previous?.firstStep ?? 1 });
  const missing = responses.missingCalls;
  if (missing.length === 0 || !answers.every(({ callId }) => missing.includes(callId))) return null;
  if (previous && responses.firstSteps.at(-1) !== previous.firstStep) return null;
  const unanswered = missing.find((callId) => !answers.some((answer) => answer.callId === callId));
  if (unanswered !== undefined) throw noOutput(callIdFor(unanswered, sessionId));
  for (const answer of answers) await bus.send('tool-call.answer', { sessionId, ...answer }, context);
  return {
    place: { agentId, sessionId, turnId, firstStep: responses.nextStep },
    afterSeq: turn.begin - 1,
  };
}

async function startOf(asked: AskedResponse, previous: ResponsePlace | null): Promise<Start> {
  const { bus, context, body, request } = asked;
  if (body.conversation !== undefined) {
    const sessionId = body.conversation;
    const { head } = await bus.send('session.position', { sessionId }, context);
    if (head === 0 && isConversationId(sessionId)) throw noConversation(sessionId, 'conversation');
    return { sessionId, afterSeq: head };
  }
  if (previous) return startBehind(asked, previous);
  const sessionId = await newSessionId(request, isUnstored(body) ? UNSTORED : 'chat');
  return { sessionId, afterSeq: 0, isAlone: true };
}

async function startBehind(asked: AskedResponse, previous: ResponsePlace): Promise<Start> {
  const { bus, context, body } = asked;
  const { sessionId, turnId, firstStep } = previous;
  const found = await recordedResponse(bus, previous, context);
  if (!found) throw noResponse(body.previous_response_id ?? '', 'previous_response_id');
  const { turn, responses } = found;
  const later = responses.firstSteps.find((step) => step > firstStep);
  if (later !== undefined) {
    const namedAs = (callId: string): string => callIdFor(callId, sessionId);
    const before = restatedTurn(turn.since, turnId, { lastStep: later - 1, namedAs });
    return { ...(await forked(asked, sessionId, turn.begin - 1)), before };
  }
  const [missing] = responses.missingCalls;
  if (missing !== undefined) throw noOutput(callIdFor(missing, sessionId));
  if (isLastMessage(turn) && body.store !== false)
    return { sessionId, afterSeq: turn.head, follows: { turnId, seq: turn.head } };
  if (turn.end !== undefined) return forked(asked, sessionId, turn.end);
  throw new ServiceError('INVALID_REQUEST', 'The previous response is still in progress.', {
    field: 'previous_response_id',
    issue: 'another message waits behind it',
  });
}

/** A new session that has the events of another one up to a seq. */
async function forked(
  { bus, context, body, request }: AskedResponse,
  from: SessionId,
  at: number,
): Promise<Start> {
  const to = await newSessionId(request, isUnstored(body) ? UNSTORED : 'chat');
  // The request may come again with its key.
  const { head } = await bus.send('session.position', { sessionId: to }, context);
  const afterSeq =
    head > 0 || at === 0 ? head : (await bus.send('session.fork', { from, at, to }, context)).head;
  return { sessionId: to, afterSeq, isAlone: true };
}

async function started(
  { bus, context, body, agentId, key, maxImageBytes }: AskedResponse,
  { messages, fieldOf }: InputMessages,
  { sessionId, afterSeq, before, follows, isAlone }: Start,
): Promise<BegunResponse> {
  const conversation = givenConversation(messages, { maxImageBytes, fieldOf, ...(before && { before }) });
  const { instructions, history: given, newest } = conversation;
  const note: Partial<ResponseNote> = {
    ...(body.metadata && { metadata: body.metadata }),
    ...(body.background && { background: true }),
    ...(body.store === false && { store: false }),
    ...(body.previous_response_id !== undefined && { previous_response_id: body.previous_response_id }),
    ...(body.conversation !== undefined && { conversation: body.conversation }),
    ...(isAlone && { isAlone }),
  };
  const message = turnMessage({
    ...{ sessionId, ...newest, key },
    ...(given.length > 0 && { given }),
    options: {
      ...optionsOf(body, instructions),
      ...(isUnstored(body) && { ephemeral: true as const }),
      note,
    },
  });
  const { turnId } = await bus.send('turn.start', { ...message, ...(follows && { follows }) }, context);
  const place = { agentId, sessionId, turnId, firstStep: 1 };
  if (turnId === message.turnId) return { place, afterSeq };
  // The message was repeated.
  const turn = await recordedTurn(bus, place, context);
  return { place, afterSeq: (turn?.begin ?? 1) - 1 };
}

function optionsOf(body: ResponseRequest, said: string | undefined): TurnOptions {
  const { max_output_tokens: maxTokens, temperature, top_p: topP, text, reasoning } = body;
  const { tools = [], tool_choice: choice, parallel_tool_calls: parallel } = body;
  return {
    ...askedOptions({
      ...{ maxTokens, temperature, topP, tools, parallel },
      instructions: [body.instructions, said].filter((one) => one !== undefined).join('\n\n'),
      format: text?.format,
      choice: typeof choice === 'object' ? { name: choice.name } : choice,
    }),
    ...(reasoning?.summary !== undefined && { keepReasoning: true as const }),
  };
}

function noOutput(callId: string): ServiceError {
  return new ServiceError('INVALID_REQUEST', `No tool output found for function call ${callId}.`, {
    field: 'input',
    issue: 'the previous response waits for the results of its function calls',
    suggestion: 'Send a function_call_output with this call_id.',
  });
}

function twoPlaces(): ServiceError {
  return new ServiceError('INVALID_REQUEST', 'A response goes on in one place.', {
    field: 'conversation',
    issue: 'there is a previous_response_id, too',
    suggestion: 'Send one of the two.',
  });
}
