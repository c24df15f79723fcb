import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { SessionClient } from '../../../src/client/session-client.ts';
import { RefusedError } from '../../../src/client/session-errors.ts';
import { unlessLost } from '../crash/session-watchers.ts';
import type { Forked, Sent } from '../crash/workload-user.ts';
import type { Cluster } from './cluster.ts';
import { withinMs } from './deadline.ts';

/** What a user of a cluster knows of a message. */
export interface ClusterSent extends Sent {
  /** The service has said that it recorded nothing of it. */
  readonly isRefused: boolean;
  /** What it was told, for whoever looks for a fault. */
  readonly told: string;
}

const Body = z.looseObject({
  response: z.string().optional(),
  at: z.int().optional(),
  error: z.looseObject({ code: z.string(), message: z.string() }).optional(),
});

interface Answer {
  readonly status: number;
  readonly body: z.infer<typeof Body>;
}

/** The connection was lost before the answer. */
const LOST: Answer = { status: 0, body: { error: { code: 'OUTCOME_UNKNOWN', message: 'lost' } } };

type Request = readonly [path: string, body: object, key?: string];
type Fate = 'recorded' | 'refused' | 'unknown';

/** Longest time that a tool takes, twice. */
const MAX_MS = 12;
/** Longest time that a user thinks before the next act. */
const THINK_MS = 60;
/** Longest wait for any answer: longer than any fault of these tests, and what follows from it. */
const ANSWER_MS = 120_000;
const BETWEEN_TRIES_MS = 100;
/** How often a request whose outcome nobody knows is repeated with its key. */
const MAX_REPEATS = 5;
const GOES_ON = /It goes on by itself later/;

/** Somebody who talks to a session through any node, and notes what was acknowledged. */
export class ClusterUser {
  readonly sent: ClusterSent[] = [];
  readonly forks: Forked[] = [];
  /** How often the conversation was begun anew for certain, and how often perhaps. */
  readonly resets = { certain: 0, possible: 0 };
  readonly #name: string;
  readonly #sessionId: string;
  readonly #cluster: Cluster;
  readonly #client: SessionClient;
  readonly #random: () => number;
  #count = 0;

  constructor(
    name: string,
    { sessionId, client }: { sessionId: string; client: SessionClient },
    cluster: Cluster,
    random: () => number,
  ) {
    this.#name = name;
    this.#sessionId = sessionId;
    this.#client = client;
    this.#cluster = cluster;
    this.#random = random;
  }

  /** Talks until it is told that it is over, and then until it has its last answer. */
  async talk(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      await this.#act();
      await delay(this.#random() * THINK_MS);
    }
  }

  #act(): Promise<void> {
    const chance = this.#random();
    if (chance < 0.3) return this.#message('/api/message-sync', true);
    if (chance < 0.42) return this.#message('/api/message-sync', false);
    if (chance < 0.54) return this.#message('/api/message', true);
    if (chance < 0.62) return this.#message('/api/message', false);
    if (chance < 0.72) return this.#overSocket((text) => this.#client.send(text).then(() => undefined));
    if (chance < 0.84) return this.#overSocket((text) => this.#client.ask(text));
    if (chance < 0.92) return this.#cancel();
    return chance < 0.96 ? this.#reset() : this.#fork();
  }

  /** A key makes it safe to ask again; without one nobody knows. */
  async #message(path: string, hasKey: boolean, sessionId = this.#sessionId): Promise<void> {
    const content = this.#nextContent();
    const body = { message: content, sessionId };
    const answer = hasKey
      ? await this.#untilAnswered(path, body, `key-of-${content.split(' ')[1]}`)
      : await this.#attempt([path, body]);
    this.#note(content, answer ?? LOST, sessionId, `POST ${path}${hasKey ? ' with a key' : ''}`);
  }

  /** @param talk resolves to the reply, if it waits for one. */
  async #overSocket(talk: (content: string) => Promise<string | undefined>): Promise<void> {
    const content = this.#nextContent();
    const saying = withinMs(ANSWER_MS, `the client's answer to ${content}`, talk(content));
    this.#note(content, await answerOfClient(saying), this.#sessionId, 'the client');
  }

  async #cancel(): Promise<void> {
    const answer = await this.#attempt([`/api/sessions/${this.#sessionId}/cancel`, {}]);
    // A session that nobody has talked to.
    if (answer && answer.status !== 200 && answer.status !== 404) fateOf(answer);
  }

  async #reset(): Promise<void> {
    this.#count += 1;
    const body = { sessionId: this.#sessionId };
    const answer = await this.#untilAnswered('/api/reset', body, `reset-${this.#name}-${this.#count}`);
    const fate = fateOf(answer);
    if (fate === 'recorded') this.resets.certain += 1;
    if (fate !== 'refused') this.resets.possible += 1;
  }

  /** And talks to the fork. A second attempt is refused, because the first has made it. */
  async #fork(): Promise<void> {
    this.#count += 1;
    const sessionId = `fork-${this.#name}-${this.#count}`;
    const answer = await this.#untilAnswered(`/api/sessions/${this.#sessionId}/fork`, { sessionId });
    if (answer.status === 404) return;
    if (answer.status !== 400 && fateOf(answer) !== 'recorded') return;
    this.forks.push({ sessionId, from: this.#sessionId, at: answer.body.at ?? null });
    await this.#message('/api/message-sync', true, sessionId);
  }

  #note(content: string, answer: Answer, sessionId: string, way: string): void {
    const fate = fateOf(answer);
    const { response } = answer.body;
    this.sent.push({
      sessionId,
      content,
      isAcknowledged: fate === 'recorded',
      isRefused: fate === 'refused',
      told: `${way}: ${answer.status} ${JSON.stringify(answer.body.error ?? {})}`,
      ...(response !== undefined && { response }),
    });
  }

  /** Asks again as long as the connection is lost, or the service can do nothing now. */
  async #untilAnswered(...request: Request): Promise<Answer> {
    let repeats = 0;
    for (;;) {
      const answer = await this.#attempt(request);
      const isUnknown = answer?.body.error?.code === 'OUTCOME_UNKNOWN';
      if (isUnknown) repeats += 1;
      if (answer && answer.status !== 503 && (!isUnknown || repeats > MAX_REPEATS)) return answer;
      await delay(BETWEEN_TRIES_MS);
    }
  }

  /** Null when the connection was lost before the answer. */
  #attempt([path, body, key]: Request): Promise<Answer | null> {
    const exchange = async (): Promise<Answer> => {
      const headers: Record<string, string> = key === undefined ? {} : { 'Idempotency-Key': key };
      const response = await this.#cluster.post(path, body, headers);
      return { status: response.status, body: Body.parse(await response.json()) };
    };
    const what = `the answer to POST ${path} ${JSON.stringify(body)}`;
    return withinMs(ANSWER_MS, what, unlessLost(exchange()));
  }

  /** No two are the same. */
  #nextContent(): string {
    this.#count += 1;
    return `work ${this.#name}-${this.#count} ${Math.floor(this.#random() * MAX_MS)}`;
  }
}

/** What the client of the package makes of an answer, as an answer again. */
async function answerOfClient(saying: Promise<string | undefined>): Promise<Answer> {
  try {
    const response = await saying;
    return { status: 200, body: response === undefined ? {} : { response } };
  } catch (error) {
    if (error instanceof RefusedError)
      return {
        status: 0,
        body: { error: { code: error.code, message: error.message, details: error.details } },
      };
    if (error instanceof Error && error.message.startsWith('the connection broke')) return LOST;
    throw error;
  }
}

/** What an answer says of what was asked for. Throws at an answer that nobody may get. */
function fateOf({ status, body: { error } }: Answer): Fate {
  if (!error) {
    if (status === 200) return 'recorded';
    throw new Error(`an answer has the status ${status} and no error`);
  }
  switch (error.code) {
    case 'TURN_CANCELLED':
      return 'recorded';
    case 'SERVICE_UNAVAILABLE':
      return 'refused';
    case 'OUTCOME_UNKNOWN':
      return 'unknown';
    case 'INTERNAL_ERROR':
      if (GOES_ON.test(error.message)) return 'recorded';
      break;
    default:
      break;
  }
  throw new Error(`a request was refused with ${status}: ${JSON.stringify(error)}`);
}
