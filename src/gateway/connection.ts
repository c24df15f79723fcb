import type { LimitsConfig } from '../contract/agent-config.ts';
import { asServiceError, ServiceError } from '../contract/errors.ts';
import type { SessionId } from '../contract/ids.ts';
import type { ClientSocket } from '../ports/client-socket.ts';
import type { Log } from '../ports/log.ts';
import type { Bus } from '../runtime/bus.ts';
import { decodeFrame, encodeError } from './frame-codec.ts';
import type { Outbox } from './outbox.ts';
import { limitExceeded, type RateLimits, tooLarge } from './rate-limits.ts';
import { Recipient } from './recipient.ts';

export interface ConnectionParts {
  readonly bus: Bus;
  readonly outbox: Outbox;
  readonly limits: RateLimits;
  readonly maxRequestBytes: LimitsConfig['requestBytes'];
  readonly log: Log;
}

/** Room for the JSON around an image. */
const FRAME_OVERHEAD_BYTES = 64 * 1024;

/** Most bytes of a frame: an image of the greatest size, in base64, fits. False when sizes are not limited. */
export function maxFrameBytes(maxRequestBytes: LimitsConfig['requestBytes']): number | false {
  return maxRequestBytes === false ? false : Math.ceil(maxRequestBytes / 3) * 4 + FRAME_OVERHEAD_BYTES;
}

/** One client socket's life: frames become commands, refusals become `error` frames, and it stays open. */
export class Connection {
  readonly #id = crypto.randomUUID();
  readonly #sessionId: SessionId;
  readonly #client: Recipient;
  readonly #parts: ConnectionParts;
  readonly #leave: () => void;
  /** Frames of one client are handled one after the other, so that they arrive in the order they were sent. */
  #inbox: Promise<void> = Promise.resolve();

  constructor(sessionId: SessionId, socket: ClientSocket, parts: ConnectionParts) {
    this.#sessionId = sessionId;
    this.#client = new Recipient(socket);
    this.#parts = parts;
    this.#leave = parts.outbox.join(sessionId, this.#client);
  }

  /** @param text null for a binary frame. @param bytes size of the frame. */
  receive(text: string | null, bytes: number): void {
    this.#inbox = this.#inbox
      .then(() => this.#handle(text, bytes))
      .catch((error: unknown) => this.#refuse(error));
  }

  closed(): void {
    this.#leave();
    void this.#parts.limits.messages.forget(this.#id);
  }

  async #handle(text: string | null, bytes: number): Promise<void> {
    const allowance = await this.#parts.limits.messages.take(this.#id);
    if (allowance?.exceeded)
      throw limitExceeded(`${allowance.limit} messages a minute and connection`, allowance);
    const { maxRequestBytes, bus } = this.#parts;
    const frameLimit = maxFrameBytes(maxRequestBytes);
    if (frameLimit !== false && bytes > frameLimit) throw tooLarge('a frame', frameLimit);
    if (text === null) {
      throw new ServiceError('INVALID_REQUEST', 'Binary frames are not accepted.', {
        issue: 'the frame is binary',
        suggestion: 'Send a text frame with a JSON object.',
      });
    }
    const frame = decodeFrame(text, maxRequestBytes);
    const sessionId = this.#sessionId;
    if (frame.type === 'reset') {
      await bus.send('session.reset', { sessionId });
      return;
    }
    const { content, imageData: image } = frame;
    await bus.send('turn.start', {
      sessionId,
      turnId: crypto.randomUUID(),
      text: content,
      ...(image && { image }),
    });
  }

  #refuse(thrown: unknown): void {
    const error = asServiceError(thrown);
    if (error.code === 'INTERNAL_ERROR')
      this.#parts.log.error({ err: error.cause ?? error }, 'a frame could not be handled');
    this.#client.send(encodeError(error));
  }
}
