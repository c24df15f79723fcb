import type { Subscription } from '@nats-io/transport-node';

/** After it, a subscription that the server has refused is asked for again. */
const REFUSED_MS = 500;

export interface RepeatedSubscriptionDeps {
  /** Asks for the subscription. An error ends it. */
  readonly open: (onError: (error: Error) => void) => Subscription;
  /** Resolves when the server has taken all that it was sent. It answers in order. */
  readonly taken: () => Promise<void>;
  /** Called for each time that it was refused. */
  readonly onRefused: (error: Error) => void;
  /** It was refused before, and is not any more. */
  readonly onAccepted: () => void;
}

/** A subscription that is asked for again and again while the server refuses it: somebody may correct the permissions. */
export class RepeatedSubscription {
  readonly #deps: RepeatedSubscriptionDeps;
  #subscription: Subscription;
  #isOver = false;

  constructor(deps: RepeatedSubscriptionDeps) {
    this.#deps = deps;
    this.#subscription = deps.open((error) => this.#refused(error));
  }

  end(): void {
    this.#isOver = true;
    this.#subscription.unsubscribe();
  }

  #refused(error: Error): void {
    if (this.#isOver) return;
    this.#deps.onRefused(error);
    setTimeout(() => void this.#again(), REFUSED_MS).unref();
  }

  async #again(): Promise<void> {
    if (this.#isOver) return;
    let isRefused = false;
    this.#subscription = this.#deps.open((error) => {
      isRefused = true;
      this.#refused(error);
    });
    // A connection that is lost meanwhile asks for it by itself when it is back.
    await this.#deps.taken().catch(() => undefined);
    if (!isRefused && !this.#isOver) this.#deps.onAccepted();
  }
}
