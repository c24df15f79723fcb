import { beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { memoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import { ServiceError } from '../../../src/core/errors.ts';
import { StorageAwayError } from '../../../src/core/log/storage-away.ts';
import { IDEMPOTENCY_TTL_MS } from '../../../src/core/request/idempotency.ts';
import type { EventStore } from '../../../src/ports/event-store.ts';
import { KeyedRequests } from '../../../src/runtime/requests/keyed-requests.ts';
import type { Clock } from '../../../src/timing/clock.ts';
import { MemoryClusterLog } from '../../support/cluster/memory-membership.ts';
import { WatchedStore } from '../../support/log/watched-store.ts';
import { CLIENT } from '../../support/sessions/origins.ts';
import { recordingLog } from '../../support/telemetry/recording-log.ts';

const START = 1_700_000_000_000;
const WAIT_MS = 30_000;
const failed = new ServiceError('TOOL_EXECUTION_FAILED', 'The tool failed.', { reason: 'no paper' });

let time = START;
let log: EventStore;
let cluster: MemoryClusterLog;
beforeEach(() => {
  time = START;
  log = memoryEventStore(() => time);
  cluster = new MemoryClusterLog(log);
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
  readonly nodes = cluster.join();
  readonly requests = new KeyedRequests(this.store, recordingLog(), {
    nodes: this.nodes,
    clock: this.clock,
  });
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

  /** Its lease has ended, and others may see that from now on. */
  die(): void {
    cluster.rows.delete(this.nodes.self);
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

describe('a request whose node is gone', () => {
  /** Begins it at a node that dies before its end. */
  async function cutOff(asked?: Asked): Promise<{ one: Node; two: Node; first: Promise<string> }> {
    const [one, two] = [new Node(), new Node()];
    const first = one.ask(asked);
    await one.running();
    one.die();
    return { one, two, first };
  }

  it('is unknown at once', async () => {
    const { two } = await cutOff();
    await two.nodes.refresh();
    await expect(two.ask()).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN', details: { key: 'k' } });
    expect([two.runs, two.clock.elapsedMs]).toEqual([0, 0]);
  });

  it('is done again at once if that is safe', async () => {
    const { two } = await cutOff({ repeatable: true });
    await two.nodes.refresh();
    expect(await two.answer('looked').ask({ repeatable: true })).toBe('looked');
    expect(two.clock.elapsedMs).toBe(0);
  });

  it('is waited for until the others see that', async () => {
    const { two } = await cutOff();
    const second = expect(two.ask()).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
    await two.clock.step();
    await two.clock.waiting();
    await two.nodes.refresh();
    await two.clock.step();
    await second;
  });

  it('has the answer that the node recorded just before', async () => {
    const { one, two, first } = await cutOff();
    two.nodes.refresh = async () => {
      one.answer('paid');
      await first;
      two.nodes.living = new Map();
    };
    two.nodes.living = new Map();
    expect([await two.ask(), two.runs, two.clock.elapsedMs]).toEqual(['paid', 0, 0]);
  });

  it('is waited for if the node has just joined, and is not known yet', async () => {
    const two = new Node();
    const one = new Node();
    const first = one.ask();
    await one.running();
    expect(two.nodes.living.has(one.nodes.self)).toBe(false);
    const second = two.ask();
    await two.clock.waiting();
    one.answer('paid');
    await first;
    await two.clock.step();
    expect(await second).toBe('paid');
  });

  it('is waited for if an older release has begun it, which did not say where', async () => {
    const [one, two] = [new Node(), new Node()];
    const first = one.ask();
    await one.running();
    const [stream] = await log.sessions();
    const [begun] = await log.read(stream?.sessionId ?? '', 0);
    if (begun?.event.type !== 'request.begun') throw new Error('it has not begun');
    const { node: _, ...older } = begun.event;
    await log.erase(begun.sessionId);
    await log.append(begun.sessionId, 0, [older], { origin: CLIENT });
    const second = two.ask();
    await two.clock.waiting();
    one.answer('paid');
    await first;
    await two.clock.step();
    expect(await second).toBe('paid');
  });
});

describe('while the database is away', () => {
  const away = new StorageAwayError('away');
  const lost = new StorageAwayError('lost', { mayBeStored: true });

  /** Ends a request that runs at a node which cannot record that. */
  async function unrecorded(end: (node: Node) => void, error: Error, asked?: Asked): Promise<Node> {
    const one = new Node();
    const first = one.ask(asked);
    await one.running();
    one.store.beforeAppend = () => Promise.reject(error);
    one.store.beforeErase = () => Promise.reject(error);
    end(one);
    await first.catch(() => undefined);
    return one;
  }

  function isBack(one: Node): void {
    one.store.beforeAppend = async () => undefined;
    one.store.beforeErase = async () => undefined;
  }

  it('an answer that could not be recorded waits at its node, and is there for a repetition', async () => {
    const one = await unrecorded((node) => node.answer('paid'), away);
    await expect(one.ask()).rejects.toMatchObject({ name: 'StorageAwayError', mayBeStored: false });
    isBack(one);
    expect([await one.ask(), one.runs, one.clock.elapsedMs]).toEqual(['paid', 1, 0]);
  });

  it('it is recorded by itself, so that another node has it', async () => {
    const one = await unrecorded((node) => node.answer('paid'), away);
    const two = new Node();
    const second = two.ask();
    await one.clock.step();
    await one.clock.waiting();
    isBack(one);
    await one.clock.step();
    void two.clock.run();
    expect([await second, two.runs]).toEqual(['paid', 0]);
  });

  it('an answer that was recorded nevertheless is not recorded twice', async () => {
    const one = new Node();
    const first = one.ask();
    await one.running();
    one.store.afterAppend = () => Promise.reject(lost);
    one.answer('paid');
    await expect(first).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
    one.store.afterAppend = async () => undefined;
    expect([await one.ask(), await headOf()]).toEqual(['paid', 2]);
  });

  it('what nobody knows is told at once at all nodes when it is back', async () => {
    const one = new Node();
    const first = one.ask();
    await one.running();
    one.fail(lost);
    await expect(first).rejects.toBe(lost);
    const two = new Node();
    for (const node of [one, two])
      await expect(node.ask()).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN', details: { key: 'k' } });
    expect(two.clock.elapsedMs).toBe(0);
  });

  it('what nobody knows, and is safe to repeat, is done again at once', async () => {
    const one = await unrecorded((node) => node.fail(lost), lost, { repeatable: true });
    isBack(one);
    expect(await one.answer('looked', 1).ask({ repeatable: true })).toBe('looked');
    expect([one.runs, one.clock.elapsedMs]).toEqual([2, 0]);
  });

  const refusal = new ServiceError('SERVER_NOT_FOUND', 'No.');

  it('a refusal is told as it is, and its key is free again when it is back', async () => {
    const one = new Node();
    const first = one.ask();
    await one.running();
    one.store.beforeErase = () => Promise.reject(away);
    one.fail(refusal);
    await expect(first).rejects.toBe(refusal);
    await expect(one.ask()).rejects.toMatchObject({ name: 'StorageAwayError' });
    isBack(one);
    expect(await one.answer('paid', 1).ask({ fingerprint: 'better' })).toBe('paid');
  });

  it('the key of a refusal is freed by itself, so that another node may begin', async () => {
    const one = await unrecorded((node) => node.fail(refusal), away);
    isBack(one);
    await one.clock.step();
    const two = new Node().answer('paid');
    void two.clock.run();
    expect(await two.ask()).toBe('paid');
  });

  it('a key that was freed nevertheless is not taken from the node that has begun anew', async () => {
    const one = new Node();
    const first = one.ask();
    await one.running();
    one.store.beforeErase = async () => {
      const [stream] = await log.sessions();
      await log.erase(stream?.sessionId ?? '');
      throw lost;
    };
    one.fail(refusal);
    await expect(first).rejects.toBe(refusal);
    const two = new Node();
    const second = two.ask();
    await two.running();
    isBack(one);
    await one.clock.step();
    const again = one.ask();
    await one.clock.waiting();
    two.answer('paid');
    await second;
    await one.clock.step();
    expect([await second, await again, one.runs]).toEqual(['paid', 'paid', 1]);
  });

  it('a beginning that was perhaps recorded counts as none, because nothing was done', async () => {
    const one = new Node().answer('paid');
    one.store.afterAppend = () => Promise.reject(lost);
    await expect(one.ask()).rejects.toMatchObject({ name: 'StorageAwayError', mayBeStored: false });
    expect(one.runs).toBe(0);
    one.store.afterAppend = async () => undefined;
    expect(await one.ask()).toBe('paid');
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
