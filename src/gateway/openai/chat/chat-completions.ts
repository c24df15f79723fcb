import type { MaxBytes } from '../../../core/size-limits.ts';
import type { Bus } from '../../../ports/bus.ts';
import type { HttpResponse } from '../../../ports/web-server.ts';
import { jsonResponse, type ServedRequest } from '../../http/http-message.ts';
import { keyOfRequest } from '../../http/idempotency-header.ts';
import { readJsonObject } from '../../http/request-body.ts';
import { checkBodySize } from '../../requests/message-size.ts';
import { parseForeign } from '../../requests/request-fields.ts';
import { withModel } from '../chosen-agent.ts';
import { chosenSession, SESSION_HEADER } from '../chosen-session.ts';
import { type ChatCompletion, chatCompletion } from './chat-answers.ts';
import { ChatRequest } from './chat-request.ts';
import { chatStream } from './chat-stream.ts';
import { type AcceptedChat, type AskedChat, runChat } from './chat-turn.ts';
import { CountedTokens } from './counted-tokens.ts';
import { imagesLength } from './given-conversation.ts';
import { leaveChat } from './left-chat.ts';
import { recordedAnswer } from './recorded-answer.ts';
import { ReplyText } from './reply-text.ts';

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
  await checkBodySize(request, maxImageBytes, () => imagesLength(body.messages));
  const context = await withModel(bus, request, body.model);
  const session = await chosenSession({ bus, context, headers: request.headers }, body.metadata);
  const key = await keyOfRequest(request, body);
  const { credential } = request;
  const asked: AskedChat = { bus, context, credential, session, body, key, maxImageBytes };
  return body.stream ? chatStream(asked, request) : chatAnswer(asked, request);
}

async function chatAnswer(asked: AskedChat, request: ServedRequest): Promise<HttpResponse> {
  const { model } = asked.body;
  const begun = Date.now();
  const tokens = new CountedTokens();
  let accepted: AcceptedChat | undefined;
  let forgetClient: (() => void) | undefined;
  const { onLeft } = request;
  const pause = await runChat(
    { ...asked, onLeft },
    {
      onAccepted: (chat) => {
        accepted = chat;
        forgetClient = onLeft?.(() => leaveChat(asked, chat));
      },
      onStep: (step) => tokens.add(step),
    },
  ).finally(() => forgetClient?.());
  if (!accepted) throw new Error('a turn has ended that was not accepted');
  const { sessionId, turnId, firstStep, told } = accepted;
  const content = new ReplyText(told).end(pause.content);
  const recorded = await recordedAnswer(asked, accepted, tokens);
  const { time, usage } = recorded ?? { time: begun, usage: tokens.usage };
  const place = { sessionId, turnId, firstStep, model, created: Math.floor(time / 1000) };
  return jsonResponse<ChatCompletion>(chatCompletion(place, { ...pause, content }, usage), 200, {
    [SESSION_HEADER]: sessionId,
  });
}
