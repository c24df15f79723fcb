import { beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { memoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import { ServiceError } from '../../../src/core/errors.ts';
import { IDEMPOTENCY_TTL_MS } from '../../../src/core/request/idempotency.ts';
import type { EventStore } from '../../../src/ports/event-store.ts';
import { KeyedRequests } from '../../../src/runtime/requests/keyed-requests.ts';
import type { Clock } from '../../../src/timing/clock.ts';
import { WatchedStore } from '../../support/log/watched-store.ts';
import { CLIENT } from '../../support/sessions/origins.ts';
import { recordingLog } from '../../support/telemetry/recording-log.ts';

const START = 1_700_000_000_000;
const WAIT_MS = 30_000;
const failed = new ServiceError('TOOL_EXECUTION_FAILED', 'The tool failed.', { reason: 'no paper' });

let time = START;
let log: EventStore;
beforeEach(() => {
  time = START;
  log = memoryEventStore(() => time);
});

/** A clock on which a time passes only when somebody waits for it and the test lets it pass. */
class SteppedClock implements Clock {
  elapsedMs = 0;
  #next = Promise.withResolvers<() => void>();

  setTimeout = (act: () => void, ms: number): void => {
    this.#next.resolve(() => {
      this.elapsedMs += ms;
      act();
    });
  };
  clearTimeout = (): void => undefined;

  /** Resolves when somebody waits. */
  async waiting(): Promise<void> {
    await this.#next.promise;
  }

  async step(): Promise<void> {
    const pass = await this.#next.promise;
    this.#next = Promise.withResolvers();
    pass();
  }

  /** From now on, time passes as soon as somebody waits. */
  async run(): Promise<never> {
    for (;;) await this.step();
  }
}

interface Asked {
  readonly fingerprint?: string;
  readonly repeatable?: boolean;
}

/** One of several nodes. The test says how each of its runs ends. */
class Node {
  readonly clock = new SteppedClock();
  readonly store = new WatchedStore(log);
  readonly requests = new KeyedRequests(this.store, recordingLog(), { isShared: true, clock: this.clock });
  runs = 0;
  readonly #running: PromiseWithResolvers<void>[] = [];
  readonly #ends: PromiseWithResolvers<string>[] = [];

  ask({ fingerprint = 'f', repeatable = false }: Asked = {}): Promise<string> {
    const key = { id: 'k', fingerprint, expiresAt: time + IDEMPOTENCY_TTL_MS };
    const run = (): Promise<string> => {
      const index = this.runs;
      this.runs += 1;
      at(this.#running, index).resolve();
      return at(this.#ends, index).promise;
    };
    const identity = { key, scope: ['pay'], answer: z.string(), origin: CLIENT };
    return this.requests.once(identity, () => ({ repeatable, run }));
  }

  /** Resolves when the run of this number has begun, the first being 0. */
  running(index = 0): Promise<void> {
    return at(this.#running, index).promise;
  }

  answer(text: string, index = 0): this {
    at(this.#ends, index).resolve(text);
    return this;
  }

  fail(error: Error, index = 0): this {
    at(this.#ends, index).reject(error);
    return this;
  }
}

function at<T>(list: PromiseWithResolvers<T>[], index: number): PromiseWithResolvers<T> {
  const found = list[index] ?? Promise.withResolvers<T>();
  list[index] = found;
  return found;
}

/** Lets all of the time pass for which a node waits for another one. */
async function passWait({ clock }: Node): Promise<void> {
  while (clock.elapsedMs < WAIT_MS) await clock.step();
}

/** Both have found that nobody has begun the request before one of them begins it. */
function atOnce(...nodes: readonly Node[]): void {
  const all = Promise.withResolvers<void>();
  let arrived = 0;
  for (const { store, clock } of nodes) {
    void clock.run();
    store.beforeAppend = async () => {
      store.beforeAppend = async () => undefined;
      arrived += 1;
      if (arrived === nodes.length) all.resolve();
      await all.promise;
    };
  }
}

const headOf = async (): Promise<number | undefined> => (await log.sessions())[0]?.head;

describe('a request that two nodes get at once', () => {
  it('runs on one, and both have its answer', async () => {
    const [one, two] = [new Node().answer('paid'), new Node().answer('paid twice')];
    atOnce(one, two);
    const [first, second] = await Promise.all([one.ask(), two.ask()]);
    expect(first).toBe(second);
    expect(one.runs + two.runs).toBe(1);
    expect(await headOf()).toBe(2);
  });

  it('is waited for as long as it runs, and fails for both as it failed', async () => {
    const [one, two] = [new Node(), new Node()];
    const first = one.ask();
    await one.running();
    const second = two.ask();
    for (let polls = 0; polls < 20; polls += 1) await two.clock.step();
    await expect(two.ask({ fingerprint: 'other' })).rejects.toMatchObject({ code: 'IDEMPOTENCY_KEY_REUSED' });
    one.fail(failed);
    await expect(first).rejects.toBe(failed);
    await two.clock.step();
    await expect(second).rejects.toMatchObject({ body: failed.body });
    expect(two.runs).toBe(0);
  });

  it('runs on the other one if the first one refuses it', async () => {
    const [one, two] = [new Node(), new Node().answer('paid')];
    const first = one.ask();
    await one.running();
    const second = two.ask();
    await two.clock.waiting();
    const refusal = new ServiceError('SERVICE_UNAVAILABLE', 'No.');
    one.fail(refusal);
    await expect(first).rejects.toBe(refusal);
    await two.clock.step();
    expect([await second, two.runs]).toEqual(['paid', 1]);
    expect(await one.ask()).toBe('paid');
  });

  it('is unknown after half a minute, and its answer is there when it comes at last', async () => {
    const [one, two] = [new Node(), new Node()];
    const first = one.ask();
    await one.running();
    const second = two.ask();
    const unknown = expect(second).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
    await passWait(two);
    await unknown;
    one.answer('paid');
    expect([await first, await two.ask(), two.runs]).toEqual(['paid', 'paid', 0]);
  });

  it('runs again after half a minute if that is safe, and all have the answer of the first end', async () => {
    const [one, two] = [new Node(), new Node()];
    const first = one.ask({ repeatable: true });
    await one.running();
    const second = two.ask({ repeatable: true });
    await passWait(two);
    await two.running();
    one.answer('looked');
    expect(await first).toBe('looked');
    two.answer('looked again');
    expect([await second, await two.ask()]).toEqual(['looked', 'looked']);
    expect(await headOf()).toBe(2);
  });

  it('is not waited for by a node that stops', async () => {
    const [one, two] = [new Node(), new Node()];
    void one.ask();
    await one.running();
    const second = two.ask();
    await two.clock.waiting();
    const stopping = expect(second).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    await two.requests[Symbol.asyncDispose]();
    await stopping;
  });
});

describe('a request whose key has expired', () => {
  /** A day after the request was done. */
  async function dayLater(): Promise<void> {
    await new Node().answer('monday').ask();
    time = START + IDEMPOTENCY_TTL_MS;
  }

  it('runs anew once when two nodes get it at once', async () => {
    await dayLater();
    const [one, two] = [new Node().answer('tuesday'), new Node().answer('tuesday twice')];
    atOnce(one, two);
    const asked = { fingerprint: 'g' };
    const [first, second] = await Promise.all([one.ask(asked), two.ask(asked)]);
    expect(first).toBe(second);
    expect(one.runs + two.runs).toBe(1);
  });

  it('begins anew in the same stream: nothing is erased that another node may have begun', async () => {
    await dayLater();
    expect(await new Node().answer('tuesday').ask({ fingerprint: 'g' })).toBe('tuesday');
    expect(await log.sessions()).toMatchObject([{ head: 4, createdAt: START, updatedAt: time }]);
  });

  it('is kept by a sweep once it has begun anew, for a day', async () => {
    await dayLater();
    const one = new Node().answer('tuesday');
    await one.ask();
    const two = new Node();
    await two.requests.sweep(time + IDEMPOTENCY_TTL_MS - 1);
    expect([await two.ask(), two.runs]).toEqual(['tuesday', 0]);
    await two.requests.sweep(time + IDEMPOTENCY_TTL_MS);
    expect(await log.sessions()).toEqual([]);
  });

  it('is recorded again when a sweep of another node has erased what had just begun', async () => {
    await dayLater();
    const one = new Node();
    const first = one.ask();
    await one.running();
    const [stream] = await log.sessions();
    await log.erase(stream?.sessionId ?? '');
    one.answer('tuesday');
    expect(await first).toBe('tuesday');
    const two = new Node();
    expect([await two.ask(), two.runs]).toEqual(['tuesday', 0]);
  });
});
