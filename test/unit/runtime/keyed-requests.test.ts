import { setImmediate as nextLoop } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { memoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import { ServiceError } from '../../../src/core/errors.ts';
import { StorageAwayError } from '../../../src/core/log/storage-away.ts';
import { StorageFullError } from '../../../src/core/log/storage-full.ts';
import { REQUEST_STREAMS, SERVERS_STREAM } from '../../../src/core/log/streams.ts';
import { IDEMPOTENCY_TTL_MS } from '../../../src/core/request/idempotency.ts';
import type { EventStore } from '../../../src/ports/event-store.ts';
import { KeyedRequests } from '../../../src/runtime/requests/keyed-requests.ts';
import { errorCatalogue } from '../../../src/wire/error-catalogue.ts';
import { type Boundary, crashingStore, keptOpen } from '../../support/log/crashing-store.ts';
import { WatchedStore } from '../../support/log/watched-store.ts';
import { CLIENT } from '../../support/sessions/origins.ts';
import { recordingLog } from '../../support/telemetry/recording-log.ts';

const START = 1_700_000_000_000;
let time = START;
let log: EventStore;
beforeEach(() => {
  time = START;
  log = memoryEventStore(() => time);
});

interface Asked {
  readonly key?: string;
  readonly fingerprint?: string;
  readonly scope?: string;
  readonly repeatable?: boolean;
}

/** A process that does one kind of thing, and counts how often; the test says how each of them ends. */
class Doer {
  readonly requests: KeyedRequests;
  readonly runs: PromiseWithResolvers<string>[] = [];
  readonly lines = recordingLog();
  onRun: (run: PromiseWithResolvers<string>) => void = () => undefined;

  constructor(store: EventStore = keptOpen(log)) {
    this.requests = new KeyedRequests(store, this.lines);
  }

  ask({ key = 'k', fingerprint = 'f', scope = 'pay', repeatable = false }: Asked = {}): Promise<string> {
    const run = (): Promise<string> => {
      const begun = Promise.withResolvers<string>();
      this.runs.push(begun);
      this.onRun(begun);
      return begun.promise;
    };
    const expiresAt = time + IDEMPOTENCY_TTL_MS;
    const identity = {
      key: { id: key, fingerprint, expiresAt },
      scope: [scope],
      answer: z.string(),
      origin: CLIENT,
    };
    return this.requests.once(identity, () => ({ repeatable, run }));
  }

  /** Every run ends at once, with this. */
  answering(answer: string): this {
    this.onRun = ({ resolve }) => resolve(answer);
    return this;
  }

  failing(error: Error): this {
    this.onRun = ({ reject }) => reject(error);
    return this;
  }
}

const streams = async (): Promise<string[]> => (await log.sessions()).map(({ sessionId }) => sessionId);
const failed = new ServiceError('TOOL_EXECUTION_FAILED', 'The tool failed.', { reason: 'no paper' });

describe('the same key', () => {
  it('runs once for many that come at the same time, and all get its answer', async () => {
    const doer = new Doer();
    const running = Promise.withResolvers<void>();
    doer.onRun = () => running.resolve();
    const asked = Array.from({ length: 5 }, () => doer.ask());
    await running.promise;
    const late = doer.ask();
    await expect(doer.ask({ fingerprint: 'other' })).rejects.toMatchObject({
      code: 'IDEMPOTENCY_KEY_REUSED',
    });
    doer.runs[0]?.resolve('paid');
    expect(await Promise.all([...asked, late])).toEqual(Array.from({ length: 6 }, () => 'paid'));
    expect(doer.runs).toHaveLength(1);
  });

  it('gets the stored answer later, in this process and in the next', async () => {
    await new Doer().answering('paid').ask();
    const next = new Doer();
    expect([await next.ask(), await next.ask()]).toEqual(['paid', 'paid']);
    await expect(next.ask({ fingerprint: 'other' })).rejects.toMatchObject({
      code: 'IDEMPOTENCY_KEY_REUSED',
      details: { key: 'k' },
    });
    expect(next.runs).toEqual([]);
  });

  it('gets the stored answer also while somebody tries it with another payload', async () => {
    await new Doer().answering('paid').ask();
    const store = new WatchedStore(log);
    const reading = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    store.beforeRead = async () => {
      reading.resolve();
      await release.promise;
    };
    const doer = new Doer(store);
    const wrong = doer.ask({ fingerprint: 'other' });
    await reading.promise;
    const right = doer.ask();
    // Time enough to be turned away because of what the other has sent.
    for (let turn = 0; turn < 20; turn += 1) await nextLoop();
    release.resolve();
    await expect(wrong).rejects.toMatchObject({ code: 'IDEMPOTENCY_KEY_REUSED' });
    expect([await right, doer.runs.length]).toEqual(['paid', 0]);
  });

  it('in another scope, and another key, are other requests', async () => {
    const doer = new Doer().answering('done');
    await doer.ask();
    await doer.ask({ scope: 'refund' });
    await doer.ask({ key: 'k2' });
    expect(doer.runs).toHaveLength(3);
  });

  it('fails again as it failed first, without being tried again', async () => {
    await expect(new Doer().failing(failed).ask()).rejects.toBe(failed);
    const next = new Doer();
    await expect(next.ask()).rejects.toMatchObject({ body: failed.body });
    expect(next.runs).toEqual([]);
  });

  it.each(['INVALID_REQUEST', 'SERVER_NOT_FOUND', 'SERVICE_UNAVAILABLE'] as const)(
    'is free again, and leaves no trace, when the request is refused with %s',
    async (code) => {
      const doer = new Doer().failing(new ServiceError(code, 'No.'));
      await expect(doer.ask()).rejects.toMatchObject({ code });
      expect(await streams()).toEqual([]);
      expect(await doer.answering('paid').ask({ fingerprint: 'better' })).toBe('paid');
    },
  );

  it('runs nothing when the log refuses that it begins', async () => {
    const store = new WatchedStore(log);
    const doer = new Doer(store).answering('paid');
    store.beforeAppend = async () => {
      throw new Error('disk full');
    };
    await expect(doer.ask()).rejects.toThrow('disk full');
    expect(doer.runs).toEqual([]);
    store.beforeAppend = async () => undefined;
    expect(await doer.ask()).toBe('paid');
  });

  it('does not do it again when the log may have what it recorded, and leaves the key used', async () => {
    const doer = new Doer();
    const away = new StorageAwayError('the database is away', { mayBeStored: true });
    await expect(doer.failing(away).ask()).rejects.toBe(away);
    await expect(doer.answering('paid').ask()).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
    expect(doer.runs).toHaveLength(1);
  });

  describe('when the disk is too full for what came of it', () => {
    const full = new StorageFullError('no space');

    /** Runs, and cannot record how that ended. */
    function finish(doer: Doer, store: WatchedStore, asked?: Asked): Promise<string> {
      doer.onRun = ({ resolve }) => {
        store.beforeAppend = () => Promise.reject(full);
        resolve('paid');
      };
      return doer.ask(asked);
    }

    it('is not refused, which would have it done again, and is not done again', async () => {
      const store = new WatchedStore(log);
      const doer = new Doer(store);
      const unknown = { code: 'OUTCOME_UNKNOWN', details: { key: 'k' } };
      await expect(finish(doer, store)).rejects.toMatchObject({ ...unknown, cause: full });
      store.beforeAppend = async () => undefined;
      await expect(doer.ask()).rejects.toMatchObject(unknown);
      expect(doer.runs).toHaveLength(1);
    });

    it('was refused all the same, and leaves the key free, when that cannot be erased', async () => {
      const store = new WatchedStore(log);
      const doer = new Doer(store);
      store.beforeErase = () => Promise.reject(full);
      const unknown = new ServiceError('SESSION_NOT_FOUND', 'There is no session.', {});
      await expect(doer.failing(unknown).ask()).rejects.toBe(unknown);
      await expect(doer.answering('paid').ask()).rejects.toBe(full);
      store.beforeErase = async () => undefined;
      expect(await doer.ask()).toBe('paid');
    });

    it('may be sent again where that is safe', async () => {
      const store = new WatchedStore(log);
      const doer = new Doer(store);
      await expect(finish(doer, store, { repeatable: true })).rejects.toBe(full);
      store.beforeAppend = async () => undefined;
      expect(await doer.answering('paid').ask({ repeatable: true })).toBe('paid');
      expect(doer.runs).toHaveLength(2);
    });
  });
});

describe('after a crash', () => {
  const begun: Boundary[] = [
    { append: 1, when: 'after' },
    { append: 2, when: 'before' },
  ];

  /** Asks a process that crashes there. @returns how often it ran. */
  async function crash(boundary: Boundary, asked: Asked = {}): Promise<number> {
    const { store, crashed } = crashingStore(log, boundary);
    const doer = new Doer(store).answering('paid');
    await expect(doer.ask(asked)).rejects.toThrow('the process has crashed');
    expect(crashed()).toBe(true);
    return doer.runs.length;
  }

  it('before it began, it is done', async () => {
    expect(await crash({ append: 1, when: 'before' })).toBe(0);
    const next = new Doer().answering('paid');
    expect([await next.ask(), next.runs.length]).toEqual(['paid', 1]);
  });

  it.each(begun)('between its beginning and its end ($append, $when), it is not done again', async (at) => {
    await crash(at);
    const next = new Doer().answering('paid twice');
    for (let repetition = 0; repetition < 2; repetition += 1) {
      await expect(next.ask()).rejects.toMatchObject({
        code: 'OUTCOME_UNKNOWN',
        details: { key: 'k', suggestion: expect.stringContaining('new key') },
      });
    }
    expect(errorCatalogue.OUTCOME_UNKNOWN.status).toBe(409);
    await expect(next.ask({ fingerprint: 'other' })).rejects.toMatchObject({
      code: 'IDEMPOTENCY_KEY_REUSED',
    });
    expect(next.runs).toEqual([]);
  });

  it.each(begun)('between the two ($append, $when), what is safe to repeat is done again', async (at) => {
    await crash(at, { repeatable: true });
    const next = new Doer().answering('looked');
    expect([await next.ask(), await next.ask()]).toEqual(['looked', 'looked']);
    expect(next.runs).toHaveLength(1);
  });

  it('after its end, it is answered', async () => {
    expect(await crash({ append: 2, when: 'after' })).toBe(1);
    const next = new Doer();
    expect([await next.ask(), next.runs.length]).toEqual(['paid', 0]);
  });

  it('what a stop cuts off has not failed: nobody knows', async () => {
    const doer = new Doer();
    const running = Promise.withResolvers<void>();
    doer.onRun = () => running.resolve();
    const asked = doer.ask();
    await running.promise;
    doer.requests.stop();
    doer.runs[0]?.reject(failed);
    await expect(asked).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    await doer.requests[Symbol.asyncDispose]();
    await expect(new Doer().ask()).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
  });
});

describe('a day later', () => {
  it('the key is new: what it stood for is gone from the log', async () => {
    const doer = new Doer().answering('monday');
    await doer.ask();
    time = START + IDEMPOTENCY_TTL_MS - 1;
    expect(await doer.ask()).toBe('monday');
    time = START + IDEMPOTENCY_TTL_MS;
    expect(await doer.answering('tuesday').ask({ fingerprint: 'other' })).toBe('tuesday');
    const [stream] = await log.sessions();
    expect(stream).toMatchObject({ head: 2, createdAt: time });
  });

  it('a sweep erases what has expired, and nothing else, page by page', async () => {
    const doer = new Doer().answering('done');
    for (let index = 0; index < 1_201; index += 1) await doer.ask({ key: `old${index}` });
    time += 1;
    await doer.ask({ key: 'young' });
    const others = ['a', 'zzz', SERVERS_STREAM];
    for (const id of others) await log.append(id, 0, [{ type: 'mcp-server.removed', name: 'x' }]);
    await doer.requests.sweep(START + IDEMPOTENCY_TTL_MS - 1);
    expect(await streams()).toHaveLength(1_205);
    await doer.requests.sweep(START + IDEMPOTENCY_TTL_MS);
    const left = await streams();
    expect(left.filter((id) => !id.startsWith(REQUEST_STREAMS))).toEqual(others);
    expect(left).toHaveLength(4);
    await doer.ask({ key: 'young' });
    expect(doer.runs).toHaveLength(1_202);
  });

  it('a sweep leaves alone what still runs', async () => {
    const doer = new Doer();
    const running = Promise.withResolvers<void>();
    doer.onRun = () => running.resolve();
    const asked = doer.ask();
    await running.promise;
    await doer.requests.sweep(START + 2 * IDEMPOTENCY_TTL_MS);
    doer.runs[0]?.resolve('at last');
    expect([await asked, await doer.ask()]).toEqual(['at last', 'at last']);
  });

  it('a request with a key that is being erased waits, and is done once', async () => {
    const doer = new Doer().answering('monday');
    await doer.ask();
    time = START + IDEMPOTENCY_TTL_MS;
    const steps: string[] = [];
    const erasing = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const store: EventStore = {
      ...keptOpen(log),
      read: (...args) => {
        steps.push('read');
        return log.read(...args);
      },
      erase: async (...ids) => {
        erasing.resolve();
        await release.promise;
        await log.erase(...ids);
        steps.push('erased');
      },
    };
    const next = new Doer(store).answering('tuesday');
    const swept = next.requests.sweep(time);
    await erasing.promise;
    const asked = next.ask();
    // Time enough to read, if it did not wait.
    for (let turn = 0; turn < 20; turn += 1) await nextLoop();
    release.resolve();
    await swept;
    expect(await asked).toBe('tuesday');
    expect(steps).toEqual(['erased', 'read']);
    expect(await next.ask()).toBe('tuesday');
  });

  it('an index that cannot be read is told, and keeps nobody from asking', async () => {
    const store = { ...keptOpen(log), sessions: () => Promise.reject(new Error('damaged')) };
    const doer = new Doer(store).answering('paid');
    await doer.requests.sweep(time);
    expect(doer.lines.lines).toMatchObject([{ level: 'warn', fields: { err: new Error('damaged') } }]);
    expect(await doer.ask()).toBe('paid');
  });
});
