import { once } from 'node:events';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { SchemaVerdict } from '../../ports/schema-check.ts';

/** A thread that answers nothing for so long is ended. */
const MAX_CHECK_MS = 2_000;
/** On a busy machine a thread takes seconds to load Ajv, which is not the fault of a schema. */
const MAX_START_MS = 60_000;
/** Most checks of one owner that may wait. */
const MAX_WAITING = 100;
const LIMITS = { maxOldGenerationSizeMb: 128 };

/** Of a check that was ended, or that would have waited behind too many. */
const NOT_IN_TIME: SchemaVerdict = {
  issue: 'it could not be checked with this schema in reasonable time',
};

/** `root` is what the value itself is called in the verdict. */
export interface SchemaTask {
  readonly schema: Readonly<Record<string, unknown>>;
  readonly value: unknown;
  readonly root: string;
}

interface Thread {
  readonly worker: Worker;
  /** Rejects when the thread cannot start. */
  readonly started: Promise<unknown>;
}

export interface WaitingTask {
  readonly owner: string;
  readonly task: SchemaTask;
  readonly settle: (verdict: SchemaVerdict) => void;
}

/**
 * Checks values against schemas of others, one after the other. A schema may have a regular expression that never comes to
 * an end, or be large beyond measure, so each check has limited time and memory, in a thread that can be ended. The owners
 * of the schemas take turns: however slow those of one are, another waits for one of its checks at most.
 */
export class SchemaThread {
  #thread: Thread | null = null;
  /** Those whose turn it is first stand first. None is empty. */
  readonly #waiting = new Map<string, WaitingTask[]>();
  #isChecking = false;
  readonly #onEnded: (owner: string) => void;

  /** @param onEnded is called when a check had to be ended, before the next one begins. */
  constructor(onEnded: (owner: string) => void = () => undefined) {
    this.#onEnded = onEnded;
  }

  /** Never rejects. */
  check(task: SchemaTask, owner = ''): Promise<SchemaVerdict> {
    const own = this.#waiting.get(owner) ?? [];
    if (own.length >= MAX_WAITING) return Promise.resolve(NOT_IN_TIME);
    const { promise, resolve: settle } = Promise.withResolvers<SchemaVerdict>();
    own.push({ owner, task, settle });
    this.#waiting.set(owner, own);
    if (!this.#isChecking) void this.#checkAll();
    return promise;
  }

  /** The checks of the owner that wait, for somebody else to do. */
  withdraw(owner: string): readonly WaitingTask[] {
    const own = this.#waiting.get(owner) ?? [];
    this.#waiting.delete(owner);
    return own;
  }

  async #checkAll(): Promise<void> {
    this.#isChecking = true;
    for (let next = this.#takeNext(); next; next = this.#takeNext()) next.settle(await this.#check(next));
    this.#isChecking = false;
  }

  #takeNext(): WaitingTask | undefined {
    for (const [owner, own] of this.#waiting) {
      const next = own.shift();
      this.#waiting.delete(owner);
      // Behind all others.
      if (own.length > 0) this.#waiting.set(owner, own);
      return next;
    }
    return undefined;
  }

  async #check({ owner, task }: WaitingTask): Promise<SchemaVerdict> {
    this.#thread ??= this.#start();
    const { worker, started } = this.#thread;
    try {
      await started;
      worker.postMessage(task);
      const [verdict] = await once(worker, 'message', { signal: AbortSignal.timeout(MAX_CHECK_MS) });
      return verdict;
    } catch {
      // It took too long, or the thread had no memory left.
      this.#thread = null;
      await worker.terminate();
      this.#onEnded(owner);
      return NOT_IN_TIME;
    }
  }

  #start(): Thread {
    // The file is .ts in a checkout and .js in a build.
    const file = new URL(`./schema-worker${extname(import.meta.url)}`, import.meta.url);
    const worker = new Worker(file, { name: 'schemas', resourceLimits: LIMITS });
    worker.unref();
    // The check that waits for the thread hears of it, too. The next one needs another thread.
    worker.on('error', () => {
      if (this.#thread?.worker === worker) this.#thread = null;
    });
    // Its first message says that it has started.
    const started = once(worker, 'message', { signal: AbortSignal.timeout(MAX_START_MS) });
    return { worker, started };
  }
}
