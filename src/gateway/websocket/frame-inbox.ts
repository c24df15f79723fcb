import type { RequestContext } from '../../core/request/request-context.ts';
import { FrameLimits, type FrameLimitsDeps } from '../security/frame-limits.ts';

/** After so many refusals in a row, the client is told no more: each costs the service more than the frame costs its sender. */
const MAX_REFUSED = 1_000;

export interface FrameHandlers {
  /** Called once for each frame, in order. Must not reject. */
  readonly handle: (frame: string) => Promise<void>;
  /**
   * Called as soon as a frame is refused.
   * @param frame null for a binary one.
   * @returns what tells the client, when it is the frame's turn.
   */
  readonly refuse: (error: unknown, frame: string | null) => () => void;
  /**
   * Called once, when the client goes on although all its frames are refused.
   * @param refused how many were, in a row.
   */
  readonly giveUp: (refused: number) => void;
}

/** The frames of a client. They are handled one after the other, in the order in which they were sent. */
export class FrameInbox {
  readonly #limits: FrameLimits;
  readonly #handlers: FrameHandlers;
  #handled = Promise.resolve();
  #isDropped = false;
  /** How many frames were refused in a row. */
  #refused = 0;

  constructor(deps: FrameLimitsDeps, handlers: FrameHandlers) {
    this.#limits = new FrameLimits(deps);
    this.#handlers = handlers;
  }

  /** Resolves when all frames that have come so far are handled. */
  get handled(): Promise<void> {
    return this.#handled;
  }

  /** A frame is counted when it comes. Only what is within the limits waits for the frames before it. */
  take(context: RequestContext, text: string | null, bytes: number): void {
    const admitted = this.#limits.admit(context, text, bytes).then(
      (frame) => this.#admitted(frame),
      (error: unknown) => this.#refuse(error, text),
    );
    this.#handled = this.#handled.then(() => admitted).then((act) => act());
  }

  #admitted(frame: string): () => Promise<void> | undefined {
    this.#refused = 0;
    return () => (this.#isDropped ? undefined : this.#handlers.handle(frame));
  }

  #refuse(error: unknown, frame: string | null): () => void {
    this.#refused += 1;
    if (this.#refused < MAX_REFUSED) return this.#handlers.refuse(error, frame);
    if (this.#refused === MAX_REFUSED) this.#handlers.giveUp(this.#refused);
    return () => undefined;
  }

  /** The client may do nothing more: frames that still wait are not handled. */
  drop(): void {
    this.#isDropped = true;
  }

  /** Call it when the socket has closed. */
  closed(): void {
    this.#limits.forget();
  }
}
