import { type Owner, ownPrefix } from '../../core/access/session-names.ts';
import { fullShare } from '../../core/limit-errors.ts';
import { KeyedSemaphore } from '../../timing/keyed-semaphore.ts';

/** A view has the whole session in memory, and reads of the log, which all clients share, wait for it. */
const AT_ONCE = 2;
const MAX_WAITING = 1_000;
/** Longer than so many views take. */
const PATIENCE_MS = 3_600_000;
const RETRY_SECONDS = 5;

/** Makes the views of one client take turns. */
export class ViewTurns {
  readonly #turns = new KeyedSemaphore({ atOnce: AT_ONCE, patienceMs: PATIENCE_MS });
  readonly #asked = new Map<string, number>();

  /** Rejects with `RATE_LIMIT_EXCEEDED` if too many views of the client wait. */
  async run<T>(client: Owner, view: () => Promise<T>): Promise<T> {
    const key = ownPrefix(client);
    const before = this.#asked.get(key) ?? 0;
    if (before >= MAX_WAITING) throw tooMany();
    this.#asked.set(key, before + 1);
    try {
      return await this.#turns.run(key, view);
    } finally {
      const left = (this.#asked.get(key) ?? 1) - 1;
      if (left > 0) this.#asked.set(key, left);
      else this.#asked.delete(key);
    }
  }
}

function tooMany(): Error {
  const what = 'views of sessions at once';
  return fullShare({ name: 'views', of: 'principal', what }, MAX_WAITING, RETRY_SECONDS);
}
