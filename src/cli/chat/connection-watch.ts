import type { SessionStatus } from '../../client/session-client.ts';
import type { Screen } from './screen.ts';

/** A script must not wait for ever for a service that is gone. */
const PATIENCE_MS = 15_000;

/** Reports a lost connection. A person decides how long to wait; a script gives up after `PATIENCE_MS`. */
export class ConnectionWatch {
  readonly #screen: Screen;
  readonly #isPatient: boolean;
  readonly #gaveUp = Promise.withResolvers<never>();
  #timer: NodeJS.Timeout | undefined;
  #wasLive = false;

  constructor(screen: Screen, isPatient: boolean) {
    this.#screen = screen;
    this.#isPatient = isPatient;
  }

  /** Rejects when the service did not come back in time. */
  get gaveUp(): Promise<never> {
    return this.#gaveUp.promise;
  }

  note(status: SessionStatus): void {
    clearTimeout(this.#timer);
    if (status === 'live') {
      if (this.#wasLive) this.#screen.note({ text: 'connected again', style: 'dim' });
      this.#wasLive = true;
    } else if (status === 'connecting') {
      if (this.#wasLive) this.#screen.note({ text: 'the connection is lost; reconnecting', style: 'yellow' });
      if (!this.#isPatient) this.#timer = setTimeout(() => this.#giveUp(), PATIENCE_MS);
    }
  }

  #giveUp(): void {
    this.#gaveUp.reject(new Error(`the service did not come back within ${PATIENCE_MS / 1_000} seconds`));
  }
}
