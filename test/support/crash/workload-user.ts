import { z } from 'zod';
import type { SessionClient } from '../../../src/client/session-client.ts';
import { RefusedError } from '../../../src/client/session-errors.ts';
import type { KilledService } from './killed-service.ts';
import { unlessLost } from './session-watchers.ts';

/** What a user knows of a message. */
export interface Sent {
  readonly sessionId: string;
  readonly content: string;
  /** Whether the service has said that it has the message; a user who lost the connection does not know. */
  readonly isAcknowledged: boolean;
  /** The reply, where the user was given it. */
  readonly response?: string;
}

export interface Forked {
  readonly sessionId: string;
  readonly from: string;
  /** The moment; null when only the second attempt was answered. */
  readonly at: number | null;
}

const Body = z.looseObject({ response: z.string().optional(), at: z.int().optional() });

interface Answer {
  readonly status: number;
  readonly body: z.infer<typeof Body>;
}

type Request = readonly [path: string, body: object, key?: string];

/** Longest time that a tool takes, twice. */
const MAX_MS = 12;

/** Somebody who talks to a session without pause, and notes what was acknowledged. */
export class WorkloadUser {
  readonly sent: Sent[] = [];
  readonly forks: Forked[] = [];
  /** How often the conversation was begun anew; each with a key, so that it is done once. */
  resets = 0;
  readonly #name: string;
  readonly #sessionId: string;
  readonly #service: KilledService;
  readonly #client: SessionClient;
  readonly #random: () => number;
  #count = 0;

  constructor(
    name: string,
    { sessionId, client }: { sessionId: string; client: SessionClient },
    service: KilledService,
    random: () => number,
  ) {
    this.#name = name;
    this.#sessionId = sessionId;
    this.#client = client;
    this.#service = service;
    this.#random = random;
  }

  /** Talks until it is told that it is over, and then until it has its last answer. */
  async talk(isOver: () => boolean): Promise<void> {
    while (!isOver()) await this.#act();
  }

  #act(): Promise<void> {
    const chance = this.#random();
    if (chance < 0.3) return this.#sync(true);
    if (chance < 0.42) return this.#sync(false);
    if (chance < 0.54) return this.#post(true);
    if (chance < 0.62) return this.#post(false);
    if (chance < 0.72) return this.#overSocket((text) => this.#client.send(text).then(() => undefined));
    if (chance < 0.82) return this.#overSocket((text) => this.#client.ask(text));
    if (chance < 0.92) return this.#cancel();
    return chance < 0.96 ? this.#reset() : this.#fork();
  }

  async #sync(hasKey: boolean, sessionId = this.#sessionId): Promise<void> {
    const content = this.#nextContent();
    const answer = await this.#message('/api/message-sync', content, sessionId, hasKey);
    // A cancelled one is in the log too.
    if (answer && answer.status !== 200 && answer.status !== 409)
      throw new Error(`a message was refused: ${JSON.stringify(answer)}`);
    this.#note(content, answer !== null, answer?.body.response, sessionId);
  }

  async #post(hasKey: boolean): Promise<void> {
    const content = this.#nextContent();
    const answer = await this.#message('/api/message', content, this.#sessionId, hasKey);
    if (answer && answer.status !== 200) throw new Error(`a message was refused: ${JSON.stringify(answer)}`);
    this.#note(content, answer !== null);
  }

  /** A key makes it safe to ask again; without one nobody knows. */
  #message(path: string, content: string, sessionId: string, hasKey: boolean): Promise<Answer | null> {
    const body = { message: content, sessionId };
    return hasKey
      ? this.#untilAnswered(path, body, `key-of-${content.split(' ')[1]}`)
      : this.#attempt([path, body]);
  }

  /** @param talk resolves to the reply, if it waits for one. */
  async #overSocket(talk: (content: string) => Promise<string | undefined>): Promise<void> {
    const content = this.#nextContent();
    try {
      this.#note(content, true, await talk(content));
    } catch (error) {
      const isCancelled = error instanceof RefusedError && error.code === 'TURN_CANCELLED';
      const isGivenUp = error instanceof Error && error.message.startsWith('the connection broke');
      if (!isCancelled && !isGivenUp) throw error;
      this.#note(content, isCancelled);
    }
  }

  async #cancel(): Promise<void> {
    const answer = await this.#attempt([`/api/sessions/${this.#sessionId}/cancel`, {}]);
    if (answer && answer.status !== 200) throw new Error(`a cancel was refused: ${JSON.stringify(answer)}`);
  }

  async #reset(): Promise<void> {
    this.#count += 1;
    const body = { sessionId: this.#sessionId };
    const answer = await this.#untilAnswered('/api/reset', body, `reset-${this.#name}-${this.#count}`);
    if (answer.status !== 200) throw new Error(`a reset was refused: ${JSON.stringify(answer)}`);
    this.resets += 1;
  }

  /** And talks to the fork. A second attempt is refused, because the first has made it. */
  async #fork(): Promise<void> {
    this.#count += 1;
    const sessionId = `fork-${this.#name}-${this.#count}`;
    const path = `/api/sessions/${this.#sessionId}/fork`;
    const answer = await this.#untilAnswered(path, { sessionId });
    if (answer.status === 404) return;
    if (answer.status !== 200 && answer.status !== 400)
      throw new Error(`a fork was refused: ${JSON.stringify(answer)}`);
    this.forks.push({ sessionId, from: this.#sessionId, at: answer.body.at ?? null });
    await this.#sync(true, sessionId);
  }

  #note(content: string, isAcknowledged: boolean, response?: string, sessionId = this.#sessionId): void {
    this.sent.push({ sessionId, content, isAcknowledged, ...(response !== undefined && { response }) });
  }

  async #untilAnswered(...request: Request): Promise<Answer> {
    for (;;) {
      const answer = await this.#attempt(request);
      if (answer) return answer;
    }
  }

  /** Null when the connection was lost before the answer. */
  async #attempt([path, body, key]: Request): Promise<Answer | null> {
    await this.#service.listening();
    const headers = {
      'Content-Type': 'application/json',
      ...(key !== undefined && { 'Idempotency-Key': key }),
    };
    const exchange = async (): Promise<Answer> => {
      const response = await this.#service.fetch(path, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      });
      return { status: response.status, body: Body.parse(await response.json()) };
    };
    return unlessLost(exchange());
  }

  /** No two are the same. */
  #nextContent(): string {
    this.#count += 1;
    return `work ${this.#name}-${this.#count} ${Math.floor(this.#random() * MAX_MS)}`;
  }
}
