import { once } from 'node:events';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { SchemaVerdict } from '../../ports/schema-check.ts';

/** A thread that answers nothing for so long is ended. */
const LONGEST_CHECK_MS = 2_000;
/** Ajv keeps what it has compiled, so a thread is replaced after this many checks. */
const CHECKS_PER_THREAD = 500;
/** Most checks that may wait. */
const MOST_WAITING = 100;
const LIMITS = { maxOldGenerationSizeMb: 128 };

const NOT_IN_TIME = 'it could not be checked with this schema in reasonable time';

/**
 * Checks values against schemas of clients, one after the other. A schema may have a regular expression that never comes to
 * an end, or be large beyond measure, so each check has limited time and memory, in a thread that can be ended.
 */
export class SchemaThread {
  #worker: Worker | null = null;
  #checks = 0;
  #waiting = 0;
  #last: Promise<unknown> = Promise.resolve();

  /** @param root what the value itself is called in the verdict. */
  check(schema: Readonly<Record<string, unknown>>, value: unknown, root: string): Promise<SchemaVerdict> {
    if (this.#waiting >= MOST_WAITING) return Promise.resolve({ issue: NOT_IN_TIME });
    this.#waiting += 1;
    const verdict = this.#last.then(() => this.#check({ schema, value, root }));
    this.#last = verdict.finally(() => {
      this.#waiting -= 1;
    });
    return verdict;
  }

  /** Never rejects. */
  async #check(task: object): Promise<SchemaVerdict> {
    const worker = this.#thread();
    try {
      worker.postMessage(task);
      const [verdict] = await once(worker, 'message', { signal: AbortSignal.timeout(LONGEST_CHECK_MS) });
      return verdict;
    } catch {
      // It took too long, or the thread had no memory left.
      this.#worker = null;
      await worker.terminate();
      return { issue: NOT_IN_TIME };
    }
  }

  #thread(): Worker {
    if (this.#checks >= CHECKS_PER_THREAD) {
      void this.#worker?.terminate();
      this.#worker = null;
    }
    if (!this.#worker) {
      this.#checks = 0;
      // The file is .ts in a checkout and .js in a build.
      const file = new URL(`./schema-worker${extname(import.meta.url)}`, import.meta.url);
      const worker = new Worker(file, { name: 'schemas', resourceLimits: LIMITS });
      worker.unref();
      // The check that waits for the thread hears of it, too. The next one needs another thread.
      worker.on('error', () => {
        if (this.#worker === worker) this.#worker = null;
      });
      this.#worker = worker;
    }
    this.#checks += 1;
    return this.#worker;
  }
}
