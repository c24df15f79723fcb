import type { TokenSource } from '../../../client/admission.ts';
import { ApiError } from '../api-error.ts';
import type { HeldKey } from './hub-messages.ts';

/** The key of whoever is signed in, as the hub has it. A tab renews it. */
export class HubKey {
  #held: HeldKey = { key: null, isRenewable: false };
  readonly #askTab: (ended: string) => void;
  readonly #waiting = new Set<() => void>();

  /** @param askTab asks a tab for another key. The answer comes with `take`. */
  constructor(askTab: (ended: string) => void) {
    this.#askTab = askTab;
  }

  get current(): string | null {
    return this.#held.key;
  }

  take({ key, isRenewable }: HeldKey): void {
    this.#held = { key, isRenewable };
    for (const settle of this.#waiting) settle();
    this.#waiting.clear();
  }

  /**
   * For one client of the service, which calls a function again when the key has ended. A key that cannot be renewed is
   * not a function, so that the client reports why the service refuses it.
   */
  source(): TokenSource | undefined {
    if (!this.#held.isRenewable) return this.#held.key ?? undefined;
    let given: string | null = null;
    return async () => {
      if (given !== null && given === this.#held.key) await this.#renew(given);
      const { key } = this.#held;
      if (key === null || key === given) throw ended();
      given = key;
      return key;
    };
  }

  #renew(key: string): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.add(resolve);
      this.#askTab(key);
    });
  }
}

function ended(): ApiError {
  return new ApiError({ code: 'UNAUTHORIZED', message: 'Your sign-in has ended.', details: {} });
}
