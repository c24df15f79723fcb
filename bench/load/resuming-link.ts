import { setTimeout as wait } from 'node:timers/promises';
import type { StreamPosition } from '../../src/client/stream-position.ts';
import { Refused } from './refused.ts';
import type { OpenLink, StreamLink } from './stream-link.ts';

/** Pause between two attempts to reach the service. */
export const RETRY_MS = 200;

export interface ResumingLinkOptions {
  readonly url: URL;
  readonly session: string;
  readonly open: OpenLink;
  /** Where the next connection resumes. */
  readonly position: () => StreamPosition;
  readonly onText: (frame: string) => void;
  readonly onLost: () => void;
}

/** The connection of a client to its session, which can be dropped and opened again. */
export class ResumingLink {
  readonly #options: ResumingLinkOptions;
  #link: StreamLink | null = null;
  #end = Promise.withResolvers<'dropped' | 'lost'>();

  constructor(options: ResumingLinkOptions) {
    this.#options = options;
  }

  /** Resolves when the current connection ends: the client dropped it, or it was lost. */
  get end(): Promise<'dropped' | 'lost'> {
    return this.#end.promise;
  }

  /** Connects unless connected, and retries until `late`. Rejects when the service refuses, and after `late`. */
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
        if (error instanceof Refused && !error.isTemporary) throw error;
        await wait(RETRY_MS);
      }
    }
  }

  say(content: string, clientMessageId: string, onRefused: (refused: Refused) => void): void {
    this.#link?.say(content, clientMessageId).catch((error: unknown) => {
      if (error instanceof Refused && !error.isTemporary) onRefused(error);
      else this.lose();
    });
  }

  drop(): void {
    this.#disconnect('dropped');
  }

  /** The connection broke, or the service no longer serves it. */
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
