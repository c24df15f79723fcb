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
  /** The subscription was refused before, and is not any more. */
  readonly onAccepted: () => void;
}

/** A subscription that is asked for again and again while the server refuses it: somebody may correct the permissions. */
export class RepeatedSubscription {
  readonly #deps: RepeatedSubscriptionDeps;
  #subscription: Subscription;
  #isRefused = false;
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;

  constructor(deps: RepeatedSubscriptionDeps) {
    this.#deps = deps;
    this.#subscription = this.#open();
  }

  end(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#subscription.unsubscribe();
  }

  /** Asks for it at once. Call it when there is a new connection, on which nobody has asked for it. */
  renew(): void {
    if (this.#isOver) return;
    clearTimeout(this.#timer);
    this.#subscription = this.#open();
  }

  #open(): Subscription {
    this.#isRefused = false;
    const subscription = this.#deps.open((error) => {
      if (subscription === this.#subscription) this.#refused(error);
    });
    return subscription;
  }

  #refused(error: Error): void {
    if (this.#isOver) return;
    this.#isRefused = true;
    this.#deps.onRefused(error);
    this.#timer = setTimeout(() => void this.#again(), REFUSED_MS).unref();
  }

  async #again(): Promise<void> {
    const subscription = this.#open();
    this.#subscription = subscription;
    // A connection that is lost meanwhile asks for it by itself when it is back.
    await this.#deps.taken().catch(() => undefined);
    if (subscription === this.#subscription && !this.#isRefused && !this.#isOver) this.#deps.onAccepted();
  }
}
