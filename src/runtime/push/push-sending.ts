import type { PushConfig } from '../../core/push/push-config.ts';
import type { Logger } from '../../ports/logger.ts';
import { PushAddressError, type PushSender } from '../../ports/push-sender.ts';
import type { PushSigner } from '../../ports/push-signer.ts';
import type { Clock } from '../../timing/clock.ts';
import { Pauses } from '../../timing/pauses.ts';
import { type Notification, pushMessage } from './push-message.ts';
import { nextTryMs, type Verdict, verdictOn } from './push-retry.ts';

export interface SendingDeps {
  readonly sender: PushSender;
  readonly signer: () => Promise<PushSigner>;
  readonly log: Logger;
  readonly clock: Clock;
  /** The time in milliseconds since the epoch. */
  readonly now: () => number;
}

/**
 * What became of a notification. `told`: the receiver has taken or refused it. `gone`, `unreachable`, `forbidden`: it will take no other
 * either. Null: the sending was stopped.
 */
export type Sent = 'told' | 'gone' | 'unreachable' | 'forbidden' | null;

interface Tried {
  readonly verdict: Verdict | 'forbidden';
  readonly retryAfter?: string | undefined;
}

/** Sends notifications to one receiver, each again and again until it has arrived. */
export class PushSending {
  readonly #config: PushConfig;
  readonly #deps: SendingDeps;
  readonly #pauses: Pauses;
  readonly #stopped = new AbortController();

  constructor(config: PushConfig, deps: SendingDeps) {
    this.#config = config;
    this.#deps = deps;
    this.#pauses = new Pauses(deps.clock);
  }

  get isStopped(): boolean {
    return this.#stopped.signal.aborted;
  }

  /** What is being sent is given up, and pauses end. */
  stop(): void {
    this.#stopped.abort();
    this.#pauses.stop();
  }

  pause(ms: number): Promise<void> {
    return this.#pauses.pause(ms);
  }

  async send(notification: Notification): Promise<Sent> {
    const { now } = this.#deps;
    const since = now();
    for (let failures = 1; !this.isStopped; failures += 1) {
      const { verdict, retryAfter } = await this.#try(notification);
      if (this.isStopped) return null;
      if (verdict === 'gone' || verdict === 'forbidden') return verdict;
      if (verdict !== 'again') return 'told';
      const waitMs = nextTryMs({ failures, since, retryAfter }, now());
      if (waitMs === null) return 'unreachable';
      await this.pause(waitMs);
    }
    return null;
  }

  async #try(notification: Notification): Promise<Tried> {
    const { sender, signer, now, log } = this.#deps;
    try {
      const message = pushMessage(this.#config, notification, { signer: await signer(), now: now() });
      const { status, retryAfter } = await sender.send(message, this.#stopped.signal);
      const verdict = verdictOn(status);
      if (verdict !== 'delivered')
        log.debug({ id: notification.id, status }, 'a push notification was refused');
      return { verdict, retryAfter };
    } catch (err) {
      if (err instanceof PushAddressError) return { verdict: 'forbidden' };
      log.debug({ id: notification.id, err }, 'a push notification was not sent, or not answered');
      return { verdict: 'again' };
    }
  }
}
