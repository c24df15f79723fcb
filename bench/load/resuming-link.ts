import { setTimeout as wait } from 'node:timers/promises';
import type { StreamPosition } from '../../src/client/stream-position.ts';
import { Refused } from './refused.ts';
import type { OpenLink, StreamLink } from './stream-link.ts';

/** Between two attempts to reach a service that is gone. */
export const RETRY_MS = 200;

export interface ResumingLinkOptions {
  readonly url: URL;
  readonly session: string;
  readonly open: OpenLink;
  /** Where the next connection goes on. */
  readonly position: () => StreamPosition;
  readonly onText: (frame: string) => void;
  readonly onLost: () => void;
}

/** A client's connection to its session: one at a time, as often as one is needed. */
export class ResumingLink {
  readonly #options: ResumingLinkOptions;
  #link: StreamLink | null = null;
  #end = Promise.withResolvers<'dropped' | 'lost'>();

  constructor(options: ResumingLinkOptions) {
    this.#options = options;
  }

  /** How the connection that is open ends. */
  get end(): Promise<'dropped' | 'lost'> {
    return this.#end.promise;
  }

  /** Connects unless it is connected, again and again; rejects when it is refused or too late. */
  async connect(late: AbortSignal): Promise<void> {
    const { url, session, open, position, onText } = this.#options;
    while (!this.#link) {
      late.throwIfAborted();
      try {
        const onLost = (): void => this.lose();
        const link = await open({ url, session, position: position(), late, onText, onLost });
        this.#end = Promise.withResolvers();
        this.#link = link;
        if (late.aborted) this.drop();
      } catch (error) {
        if (error instanceof Refused && !error.isPassing) throw error;
        await wait(RETRY_MS);
      }
    }
  }

  say(content: string, clientMessageId: string, onRefused: (refused: Refused) => void): void {
    this.#link?.say(content, clientMessageId).catch((error: unknown) => {
      if (error instanceof Refused && !error.isPassing) onRefused(error);
      else this.lose();
    });
  }

  drop(): void {
    this.#disconnect('dropped');
  }

  /** It broke, or the service does not serve it any more. */
  lose(): void {
    if (!this.#link) return;
    this.#disconnect('lost');
    this.#options.onLost();
  }

  #disconnect(how: 'dropped' | 'lost'): void {
    this.#link?.drop();
    this.#link = null;
    this.#end.resolve(how);
  }
}
