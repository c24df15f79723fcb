import { Turnstile, type TurnstileOptions } from './turnstile.ts';

/** A turnstile for each key that somebody uses. */
export class Turnstiles {
  readonly #options: TurnstileOptions;
  readonly #used = new Map<string, Turnstile>();

  constructor(options: TurnstileOptions) {
    this.#options = options;
  }

  async pass<T>(key: string, work: () => Promise<T>): Promise<T> {
    const turnstile = this.#used.get(key) ?? new Turnstile(this.#options);
    this.#used.set(key, turnstile);
    try {
      return await turnstile.pass(work);
    } finally {
      if (turnstile.isEmpty) this.#used.delete(key);
    }
  }
}
