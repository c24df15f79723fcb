import { asServiceError } from '../../../core/errors.ts';
import type { RequestContext } from '../../../core/request/request-context.ts';
import type { Bus } from '../../../ports/bus.ts';
import type { TurnMessage } from '../../../ports/service-requests.ts';
import type { HttpResponse } from '../../../ports/web-server.ts';
import type { ServedRequest } from '../../http/http-message.ts';
import { answerTurn } from '../../requests/turn-answer.ts';
import { type EventSink, serverSentEvents } from '../../sse/server-sent-events.ts';
import type { ChosenSession } from '../chosen-session.ts';
import { openAiError } from '../openai-error.ts';
import { ChatChunks } from './chat-answers.ts';
import { CountedTokens } from './counted-tokens.ts';
import { ReplyText } from './reply-text.ts';

export interface ChatStreamDeps {
  readonly bus: Bus;
  readonly context: RequestContext;
  readonly session: ChosenSession;
  readonly message: TurnMessage;
  readonly model: string;
  readonly created: number;
  readonly hasUsage: boolean;
  readonly request: ServedRequest;
}

/**
 * Streams the reply. Rejects if the message is refused. A client that goes away cancels the turn, unless it has named the
 * session and can come back.
 */
export async function chatStream(deps: ChatStreamDeps): Promise<HttpResponse> {
  const { bus, context, session, message, model, created, hasUsage, request } = deps;
  const events = new HeldEvents();
  const accepted = Promise.withResolvers<ChatChunks>();
  const text = new ReplyText();
  const tokens = new CountedTokens();
  let isOver = false;
  const run = async (): Promise<void> => {
    let chunks: ChatChunks | undefined;
    /** A fast model speaks before the answer says which turn it is. */
    let untold = '';
    const tell = (rest: string): void => {
      untold += rest;
      if (untold === '' || !chunks) return;
      events.send(chunks.piece(untold));
      untold = '';
    };
    try {
      const reply = await answerTurn(bus, message, context, {
        onAccepted: (turnId) => {
          chunks = new ChatChunks({ turnId, model, created }, hasUsage);
          events.send(chunks.begin());
          tell('');
          accepted.resolve(chunks);
        },
        onChunk: (chunk) => tell(text.add(chunk)),
        onStep: (step) => tokens.add(step),
      });
      tell(text.end(reply.content));
      if (chunks) events.send(chunks.end(reply, tokens.usage));
    } catch (error) {
      if (!chunks) throw error;
      events.send(`data: ${JSON.stringify(openAiError(asServiceError(error)))}\n\n`);
    } finally {
      isOver = true;
      events.end();
    }
  };
  const stop = (): void => {
    const { sessionId, turnId } = message;
    if (isOver || session.isNamed) return;
    const cancel = { sessionId, turnId, reason: 'the client went away' };
    // The turn may have ended meanwhile, and nobody is left to be told.
    bus.send('turn.cancel', cancel, context).catch(() => undefined);
  };
  run().catch((error: unknown) => accepted.reject(error));
  await accepted.promise;
  return serverSentEvents((sink) => {
    events.pass(sink);
    return { drained: () => undefined, stop };
  }, request);
}

/** Events from before there is somebody to send them to. */
class HeldEvents {
  #held = '';
  #sink: EventSink | null = null;
  #isOver = false;

  send(event: string): void {
    if (this.#sink) this.#sink.send(event);
    else this.#held += event;
  }

  end(): void {
    this.#isOver = true;
    this.#sink?.end();
  }

  pass(sink: EventSink): void {
    if (this.#held !== '') sink.send(this.#held);
    this.#sink = sink;
    if (this.#isOver) sink.end();
  }
}
