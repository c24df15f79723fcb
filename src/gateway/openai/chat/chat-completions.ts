import type { IdempotencyKey } from '../../../core/request/request-events.ts';
import type { MaxBytes } from '../../../core/size-limits.ts';
import type { TurnOptions } from '../../../core/turn/turn-options.ts';
import type { Bus } from '../../../ports/bus.ts';
import type { TurnMessage } from '../../../ports/service-requests.ts';
import type { HttpResponse } from '../../../ports/web-server.ts';
import { jsonResponse, type ServedRequest } from '../../http/http-message.ts';
import { keyOfRequest } from '../../http/idempotency-header.ts';
import { readJsonObject } from '../../http/request-body.ts';
import { parseForeign } from '../../requests/request-fields.ts';
import { answerTurn } from '../../requests/turn-answer.ts';
import { turnMessage } from '../../requests/turn-message.ts';
import { withModel } from '../chosen-agent.ts';
import { type ChosenSession, chosenSession, SESSION_HEADER } from '../chosen-session.ts';
import { type ChatCompletion, type ChatPlace, chatCompletion } from './chat-answers.ts';
import { ChatRequest } from './chat-request.ts';
import { chatStream } from './chat-stream.ts';
import { CountedTokens } from './counted-tokens.ts';
import { givenConversation, sinceLastReply } from './given-conversation.ts';

/**
 * OpenAI's chat completions. The client brings the conversation and keeps it; it is recorded as it came, in a session of its
 * own. In a session that the client names, the conversation is already there, and only what is new is taken.
 */
export async function chatCompletions(
  bus: Bus,
  request: ServedRequest,
  maxImageBytes: MaxBytes,
): Promise<HttpResponse> {
  const body = parseForeign(ChatRequest, await readJsonObject(request));
  const context = await withModel(bus, request, body.model);
  const session = await chosenSession(request, body.metadata);
  const key = await keyOfRequest(request, body);
  const asked = { bus, context, session };
  const message = await messageOf(body, { ...asked, key, maxImageBytes });
  const { model } = body;
  const created = Math.floor(Date.now() / 1000);
  const headers = { [SESSION_HEADER]: session.sessionId };
  if (body.stream) {
    const hasUsage = body.stream_options?.include_usage === true;
    const stream = await chatStream({ ...asked, message, model, created, hasUsage, request });
    return { ...stream, headers: { ...stream.headers, ...headers } };
  }
  const tokens = new CountedTokens();
  let place: ChatPlace = { turnId: message.turnId, model, created };
  const reply = await answerTurn(bus, message, context, {
    onAccepted: (turnId) => {
      place = { ...place, turnId };
    },
    onStep: (step) => tokens.add(step),
  });
  return jsonResponse<ChatCompletion>(chatCompletion(place, reply, tokens.usage), 200, headers);
}

interface MessageDeps {
  readonly bus: Bus;
  readonly context: ServedRequest['context'];
  readonly session: ChosenSession;
  readonly key: IdempotencyKey | undefined;
  readonly maxImageBytes: MaxBytes;
}

async function messageOf(
  body: ChatRequest,
  { bus, context, session, key, maxImageBytes }: MessageDeps,
): Promise<TurnMessage> {
  const { instructions, history, newest } = givenConversation(body.messages, maxImageBytes);
  const { sessionId, isNamed } = session;
  const isKnown = isNamed && (await bus.send('session.position', { sessionId }, context)).head > 0;
  const given = isKnown ? sinceLastReply(history) : history;
  const options = optionsOf(body, instructions);
  return turnMessage({
    sessionId,
    ...newest,
    key,
    ...(given.length > 0 && { given }),
    ...(options && { options }),
  });
}

/** Undefined if the client wants nothing special. */
function optionsOf(body: ChatRequest, instructions: string | undefined): TurnOptions | undefined {
  const { max_completion_tokens, max_tokens, temperature, top_p: topP, stop, seed } = body;
  const maxTokens = max_completion_tokens ?? max_tokens;
  const options: TurnOptions = {
    ...(instructions !== undefined && { instructions }),
    ...(maxTokens !== undefined && { maxTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { topP }),
    ...(stop !== undefined && { stop: [stop].flat() }),
    ...(seed !== undefined && { seed }),
  };
  return Object.keys(options).length > 0 ? options : undefined;
}
