import type { SchemaVerdict } from '../../ports/schema-check.ts';
import { type SchemaTask, SchemaThread } from './schema-thread.ts';

/** How long an owner is taken for slow after a check that came to no end. */
const SLOW_MS = 10 * 60_000;
/** Most owners that are remembered as slow. */
const MAX_SLOW = 1_000;

/**
 * Checks against schemas of clients. A check that is ended has held up all others for as long as it may take, so whoever
 * owns its schema is checked in a thread of their own from then on, with others like them.
 */
export class ClientSchemas {
  readonly #quick = new SchemaThread((owner) => this.#noteSlow(owner));
  readonly #slow = new SchemaThread();
  /** Until when each is slow, in milliseconds of `performance.now()`. The newest stands last. */
  readonly #slowUntil = new Map<string, number>();

  /** Never rejects. */
  check(task: SchemaTask, owner: string): Promise<SchemaVerdict> {
    return (this.#isSlow(owner) ? this.#slow : this.#quick).check(task, owner);
  }

  #isSlow(owner: string): boolean {
    return (this.#slowUntil.get(owner) ?? 0) > performance.now();
  }

  #noteSlow(owner: string): void {
    this.#slowUntil.delete(owner);
    this.#slowUntil.set(owner, performance.now() + SLOW_MS);
    const [oldest] = this.#slowUntil.keys();
    if (this.#slowUntil.size > MAX_SLOW && oldest !== undefined) this.#slowUntil.delete(oldest);
    for (const { task, settle } of this.#quick.withdraw(owner))
      void this.#slow.check(task, owner).then(settle);
  }
}
