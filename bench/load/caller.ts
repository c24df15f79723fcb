import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import { type HttpAnswer, HttpConnection } from '../support/http-connection.ts';
import { unexpectedIn } from './expected.ts';
import type { Instance, LoggedEvent } from './instance.ts';
import type { LoadOptions } from './options.ts';
import { Refused, reasonOf } from './refused.ts';
import { RETRY_MS } from './resuming-link.ts';
import type { Tally } from './tally.ts';
import { Unanswered, within } from './within.ts';

const Answer = z.object({ response: z.string() });

export interface CallerDeps {
  readonly options: LoadOptions;
  readonly instance: Instance;
  readonly tally: Tally;
  /** After its abort the client sends no more messages. */
  readonly stopping: AbortSignal;
}

/** A client of message-sync. When its connection is lost, it repeats the request with the same idempotency key. */
export class Caller {
  readonly #session: string;
  readonly #deps: CallerDeps;
  readonly #answers: string[] = [];
  #asked = 0;
  #connection: HttpConnection | null = null;
  /** 1 after a request without an answer in time. The log may have its answer. */
  #unanswered = 0;

  constructor(session: string, deps: CallerDeps) {
    this.#session = session;
    this.#deps = deps;
  }

  async run(): Promise<void> {
    const { instance, tally } = this.#deps;
    try {
      await this.#askAll();
    } finally {
      this.#connection?.close();
    }
    await tally.compare(this.#session, async () => {
      if (this.#unanswered > 0) await instance.cancel(this.#session);
      const events = await instance.log(this.#session);
      return unexpectedIn(events, this.#deps.options) ?? this.#differenceFrom(events);
    });
  }

  #differenceFrom(events: readonly LoggedEvent[]): string | null {
    const logged = events.filter(({ event }) => event === 'response');
    const count = this.#answers.length;
    const messages = events.filter(({ event }) => event === 'message').length;
    if (messages > this.#asked) return `${this.#asked} messages were sent, ${messages} are in the log`;
    if (logged.length < count || logged.length > count + this.#unanswered)
      return `${count} answers were received, ${logged.length} are in the log`;
    const index = this.#answers.findIndex((answer, at) => logged[at]?.data.content !== answer);
    return index === -1
      ? null
      : `answer ${index + 1} was received as ${JSON.stringify(this.#answers[index])} and is in the log as ${JSON.stringify(logged[index]?.data.content)}`;
  }

  async #askAll(): Promise<void> {
    const { options, tally, stopping } = this.#deps;
    for (let message = 0; message < options.messages && !stopping.aborted; message += 1) {
      const sent = performance.now();
      this.#asked += 1;
      try {
        const answer = await within(options.timeoutSeconds, (late) => this.#ask(crypto.randomUUID(), late));
        tally.answered(performance.now() - sent, null);
        this.#answers.push(answer);
      } catch (error) {
        if (error instanceof Refused && error.limitMs !== null) {
          await tally.waitForLimit(error.limitMs, stopping);
          message -= 1;
          this.#asked -= 1;
          continue;
        }
        tally.failed(reasonOf(error));
        if (!(error instanceof Unanswered)) continue;
        this.#unanswered = 1;
        return;
      }
    }
  }

  async #ask(key: string, late: AbortSignal): Promise<string> {
    const { options, tally } = this.#deps;
    const body = JSON.stringify({ message: options.message, sessionId: this.#session });
    for (let attempt = 1; ; attempt += 1) {
      late.throwIfAborted();
      try {
        return answerOf(await this.#request(key, body));
      } catch (error) {
        if (error instanceof Refused && !error.isTemporary) throw error;
        if (attempt === 1 && !late.aborted) tally.lost += 1;
        this.#connection?.close();
        this.#connection = null;
        await wait(RETRY_MS);
      }
    }
  }

  #request(key: string, body: string): Promise<HttpAnswer> {
    this.#connection ??= new HttpConnection(this.#deps.options.url);
    return this.#connection.request({ path: '/api/message-sync', headers: { 'Idempotency-Key': key }, body });
  }
}

function answerOf({ status, body }: HttpAnswer): string {
  const answer = status === 200 ? Answer.safeParse(JSON.parse(body)) : null;
  if (!answer?.success) throw Refused.byResponse(status, body);
  return answer.data.response;
}
