import { isSameSession } from '../../../core/access/session-names.ts';
import type { GivenMessage } from '../../../core/conversation/given-message.ts';
import { hasMessage } from '../../../core/conversation/transcript.ts';
import { ServiceError } from '../../../core/errors.ts';
import type { SessionId } from '../../../core/ids.ts';
import type { SessionEventOf } from '../../../core/log/events.ts';
import type { IdempotencyKey } from '../../../core/request/request-events.ts';
import type { MaxBytes } from '../../../core/size-limits.ts';
import type { TurnOptions } from '../../../core/turn/turn-options.ts';
import type { Bus } from '../../../ports/bus.ts';
import type { TurnMessage } from '../../../ports/service-requests.ts';
import type { SessionReader } from '../../security/held-session.ts';
import { answerBefore } from '../../turns/answered-before.ts';
import type { TurnPause } from '../../turns/attended-turn.ts';
import { sinceLastReply } from '../../turns/given-calls.ts';
import { unansweredMessages } from '../../turns/recorded-turn.ts';
import { type BegunAnswer, continueTurn, runTurn, type TurnListener } from '../../turns/turn-answer.ts';
import { turnMessage } from '../../turns/turn-message.ts';
import { askedOptions } from '../asked-options.ts';
import type { ChosenSession } from '../chosen-session.ts';
import { withSchemaNamed } from '../output-format.ts';
import type { ChatRequest } from './chat-request.ts';
import { givenConversation } from './given-conversation.ts';
import { missingResult } from './missing-result.ts';
import { type PlacedMessage, placedInChat } from './placed-message.ts';
import { answersBeforeMessage, behindResults, endsWithResult, toolAnswers } from './tool-answers.ts';

/** Who asks, for what. */
export interface AskedChat extends SessionReader {
  readonly bus: Bus;
  readonly session: ChosenSession;
  readonly body: ChatRequest;
  readonly key: IdempotencyKey | undefined;
  readonly maxImageBytes: MaxBytes;
}

/** The turn that answers a request. */
export interface AcceptedChat extends BegunAnswer {
  readonly sessionId: SessionId;
}

export interface ChatListener extends Pick<TurnListener, 'onChunk' | 'onStep'> {
  readonly onAccepted: (accepted: AcceptedChat) => void;
}

/**
 * Has the conversation answered: the turn that waits for the results at its end goes on, or else a new one begins. Rejects
 * if the request is refused, and with the error that ended the turn.
 */
export async function runChat(asked: AskedChat, listener: ChatListener): Promise<TurnPause> {
  const { bus, body, key, session, context } = asked;
  const client = { ...asked, noResult: missingResult };
  const heardIn = (sessionId: SessionId): TurnListener => ({
    ...listener,
    onAccepted: (begun) => listener.onAccepted({ sessionId, ...begun }),
  });
  const messages = placedInChat(body.messages);
  const answers = toolAnswers(messages);
  // The results may be of a session that this one was forked from.
  const areHere =
    answers && (!session.isNamed || isSameSession(answers.sessionId, session.sessionId, context));
  const goesOn =
    areHere && (await continueTurn(bus, { ...answers, key }, client, heardIn(answers.sessionId)));
  if (goesOn) return goesOn;
  const given = answersBeforeMessage(messages);
  const before = given && isSameSession(given.sessionId, session.sessionId, context) ? given : null;
  const message = await messageOf(asked, messages, before !== null);
  const isAnswered = before && (await answerBefore(client, before));
  const wanted = isAnswered ? { ...message, whenBusy: 'interrupt' as const } : message;
  return withSchemaNamed('response_format.json_schema.schema', () =>
    runTurn(bus, wanted, client, heardIn(message.sessionId)),
  );
}

/** @param hasResults whether results of calls of the session stand right before what the user says. */
async function messageOf(
  { bus, context, session, body, key, maxImageBytes }: AskedChat,
  all: readonly PlacedMessage[],
  hasResults: boolean,
): Promise<TurnMessage> {
  const { sessionId, isNamed } = session;
  const { head } = isNamed ? await bus.send('session.position', { sessionId }, context) : { head: 0 };
  const isKnown = head > 0;
  if (isKnown && endsWithResult(all)) throw nobodyAsked(sessionId);
  // The session has the calls, so the client need not send them.
  const messages = isKnown && hasResults ? behindResults(all) : all;
  const { instructions, history, newest } = givenConversation(messages, { maxImageBytes });
  const said = isKnown ? sinceLastReply(history) : history;
  const unanswered =
    isKnown && said.length > 0 ? await unansweredMessages(bus, { sessionId, head }, context) : [];
  const given = withoutKnown(said, unanswered);
  const options = optionsOf(body, instructions);
  return turnMessage({
    sessionId,
    ...newest,
    key,
    ...(!isNamed && !key && { isNewSession: true as const }),
    ...(given.length > 0 && { given }),
    ...(options && { options }),
  });
}

/** What a client brings, without the messages that the session has already and that got no reply. */
function withoutKnown(
  said: readonly GivenMessage[],
  unanswered: readonly SessionEventOf<'turn.requested'>[],
): readonly GivenMessage[] {
  const known = unanswered.flatMap((requested) => {
    const { given = [], text } = requested;
    return [...given.map(textIn), ...(hasMessage(requested) ? [text] : [])];
  });
  const isHere = known.every((text, index) => said[index]?.role === 'user' && textIn(said[index]) === text);
  return isHere ? said.slice(known.length) : said;
}

function textIn({ text }: GivenMessage): string {
  return text;
}

/** Undefined if the client wants nothing special. */
function optionsOf(body: ChatRequest, instructions = ''): TurnOptions | undefined {
  const { max_completion_tokens, max_tokens, temperature, top_p: topP, stop, seed } = body;
  const { tools = [], tool_choice: choice, parallel_tool_calls: parallel, response_format: format } = body;
  const options: TurnOptions = {
    ...askedOptions({
      instructions,
      temperature,
      topP,
      parallel,
      maxTokens: max_completion_tokens ?? max_tokens,
      format: format?.type === 'json_schema' ? { ...format, ...format.json_schema } : format,
      tools: tools.map((tool) => tool.function),
      choice: typeof choice === 'object' ? choice.function : choice,
    }),
    ...(stop !== undefined && { stop: [stop].flat() }),
    ...(seed !== undefined && { seed }),
  };
  return Object.keys(options).length > 0 ? options : undefined;
}

function nobodyAsked(sessionId: SessionId): ServiceError {
  return new ServiceError('CALL_NOT_FOUND', 'No tool call of that id waits for a client.', {
    field: 'messages',
    sessionId,
    reason: 'the session does not wait for the result at the end of the messages',
  });
}
