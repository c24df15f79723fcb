import type { RequestContext } from '../../core/request/request-context.ts';
import { FrameLimits, type FrameLimitsDeps } from '../security/frame-limits.ts';
import type { RefusedFrames } from '../security/refused-frames.ts';

export interface FrameHandlers {
  /** Called once for each frame, in order. Must not reject. */
  readonly handle: (frame: string) => Promise<void>;
  /**
   * Called as soon as a frame is refused.
   * @param frame null for a binary one.
   * @returns what tells the client, when it is the frame's turn.
   */
  readonly refuse: (error: unknown, frame: string | null) => () => void;
}

/** The frames of a client. They are handled one after the other, in the order in which they were sent. */
export class FrameInbox {
  readonly #limits: FrameLimits;
  readonly #handlers: FrameHandlers;
  readonly #refused: RefusedFrames;
  #handled = Promise.resolve();
  #isDropped = false;

  constructor(deps: FrameLimitsDeps, handlers: FrameHandlers, refused: RefusedFrames) {
    this.#limits = new FrameLimits(deps);
    this.#handlers = handlers;
    this.#refused = refused;
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
    this.#refused.endRow();
    return () => (this.#isDropped ? undefined : this.#handlers.handle(frame));
  }

  #refuse(error: unknown, frame: string | null): () => void {
    return this.#refused.add() ? this.#handlers.refuse(error, frame) : () => undefined;
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
