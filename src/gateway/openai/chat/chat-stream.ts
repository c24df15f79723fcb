import { asServiceError } from '../../../core/errors.ts';
import type { ReplyChunk } from '../../../core/session/session-signal.ts';
import type { HttpResponse } from '../../../ports/web-server.ts';
import type { ServedRequest } from '../../http/http-message.ts';
import { EventParts } from '../../sse/event-parts.ts';
import { type EventSink, type StreamEnd, serverSentEvents } from '../../sse/server-sent-events.ts';
import { SESSION_HEADER } from '../chosen-session.ts';
import { chatErrorEvent } from '../openai-error.ts';
import { ChatChunks } from './chat-answers.ts';
import { type AcceptedChat, type AskedChat, runChat } from './chat-turn.ts';
import { CountedTokens } from './counted-tokens.ts';
import { leaveChat } from './left-chat.ts';
import { recordedAnswer } from './recorded-answer.ts';
import { ReplyText } from './reply-text.ts';

/** Streams the reply. Rejects if the message is refused. */
export async function chatStream(asked: AskedChat, request: ServedRequest): Promise<HttpResponse> {
  const { body } = asked;
  const created = Math.floor(Date.now() / 1000);
  const hasUsage = body.stream_options?.include_usage === true;
  const events = new HeldEvents();
  const accepted = Promise.withResolvers<AcceptedChat>();
  const tokens = new CountedTokens();
  /** A fast model speaks before the answer says which turn it is. */
  const early: ReplyChunk[] = [];
  let told: { readonly text: ReplyText; readonly chunks: ChatChunks } | undefined;
  let isOver = false;
  let stopWaiting: (() => void) | undefined;
  const onLeft = (listener: () => void): (() => void) => {
    stopWaiting = listener;
    return () => undefined;
  };
  const tell = (rest: string): void => {
    if (rest !== '' && told) events.send(told.chunks.piece(rest));
  };
  const run = async (): Promise<void> => {
    try {
      const pause = await runChat(
        { ...asked, onLeft },
        {
          onAccepted: (chat) => {
            if (chat.isRepeated) request.use?.openStream();
            const { sessionId, turnId, firstStep } = chat;
            const place = { sessionId, turnId, firstStep, model: body.model, created };
            told = { text: new ReplyText(chat.told), chunks: new ChatChunks(place, hasUsage) };
            events.send(told.chunks.begin());
            for (const chunk of early) tell(told.text.add(chunk));
            accepted.resolve(chat);
          },
          onChunk: (chunk) => {
            if (told) tell(told.text.add(chunk));
            else early.push(chunk);
          },
          onStep: (step) => tokens.add(step),
        },
      );
      if (!told) throw new Error('a turn has ended that was not accepted');
      tell(told.text.end(pause.content));
      const recorded = hasUsage ? await recordedAnswer(asked, await accepted.promise, tokens) : null;
      events.send(told.chunks.end(pause, recorded?.usage ?? tokens.usage));
    } catch (error) {
      if (!told) throw error;
      events.send(chatErrorEvent(asServiceError(error)));
    } finally {
      isOver = true;
      events.end();
    }
  };
  run().catch((error: unknown) => accepted.reject(error));
  const chat = await accepted.promise;
  const stop = (why: StreamEnd): void => {
    events.drop();
    if (why !== 'left' || isOver) return;
    leaveChat(asked, chat);
    stopWaiting?.();
  };
  const response = serverSentEvents(
    (sink) => {
      events.pass(sink);
      return { drained: () => undefined, stop };
    },
    { ...request, encodeError: chatErrorEvent },
  );
  return { ...response, headers: { ...response.headers, [SESSION_HEADER]: chat.sessionId } };
}

/** Events from before there is somebody to send them to. */
class HeldEvents {
  readonly #held: string[] = [];
  readonly #parts = new EventParts((part) => this.#held.push(part));
  #sink: EventSink | null = null;
  #isOver = false;
  #isDropped = false;

  send(event: string): void {
    if (this.#sink) this.#sink.send(event);
    else if (!this.#isDropped) this.#parts.add(event);
  }

  end(): void {
    this.#isOver = true;
    this.#sink?.end();
  }

  /** There is nobody any more to send to. */
  drop(): void {
    this.#sink = null;
    this.#isDropped = true;
  }

  pass(sink: EventSink): void {
    for (const part of [...this.#held.splice(0), this.#parts.takeRest()]) if (part !== '') sink.send(part);
    this.#sink = sink;
    if (this.#isOver) sink.end();
  }
}
