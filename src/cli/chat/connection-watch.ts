import type { SessionStatus } from '../../client/session-client.ts';
import type { Note } from './event-note.ts';
import type { Screen } from './screen.ts';

/** A script must not wait for ever for a service that is gone. */
const PATIENCE_MS = 15_000;

export interface WatchOptions {
  /** Whether it waits as long as it takes. */
  readonly isPatient: boolean;
  /** Where the conversation stands, for a person who has waited. */
  readonly standing?: () => string;
  /** Called after each report. */
  readonly onReport?: () => void;
}

/** Reports a lost connection. A person decides how long to wait; a script gives up after `PATIENCE_MS`. */
export class ConnectionWatch {
  readonly #screen: Screen;
  readonly #options: WatchOptions;
  readonly #gaveUp = Promise.withResolvers<never>();
  #timer: NodeJS.Timeout | undefined;
  #wasLive = false;

  constructor(screen: Screen, options: WatchOptions) {
    this.#screen = screen;
    this.#options = options;
  }

  /** Rejects when the service did not come back in time. */
  get gaveUp(): Promise<never> {
    return this.#gaveUp.promise;
  }

  note(status: SessionStatus): void {
    const { isPatient, standing } = this.#options;
    clearTimeout(this.#timer);
    if (status === 'live') {
      if (this.#wasLive) this.#report({ text: `connected again${standing?.() ?? ''}`, style: 'dim' });
      this.#wasLive = true;
    } else if (status === 'connecting') {
      if (this.#wasLive) this.#report({ text: 'the connection is lost; reconnecting', style: 'yellow' });
      if (!isPatient) this.#timer = setTimeout(() => this.#giveUp(), PATIENCE_MS);
    }
  }

  #report(note: Note): void {
    this.#screen.note(note);
    this.#options.onReport?.();
  }

  #giveUp(): void {
    this.#gaveUp.reject(new Error(`the service did not come back within ${PATIENCE_MS / 1_000} seconds`));
  }
}
