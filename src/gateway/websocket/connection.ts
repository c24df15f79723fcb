import type { LimitsConfig } from '../../config/schema/agent-config.ts';
import { ServiceError } from '../../core/errors.ts';
import type { SessionId } from '../../core/ids.ts';
import { limitExceeded, tooLarge } from '../../core/limit-errors.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import type { StreamPosition } from '../../core/session/stream-cursor.ts';
import type { Bus } from '../../ports/bus.ts';
import type { ClientSocket } from '../../ports/client-socket.ts';
import type { Log } from '../../ports/log.ts';
import type { SocketLife } from '../../ports/web-server.ts';
import type { MessageFrame, StreamQuery } from '../../wire/requests.ts';
import { clientError } from '../requests/client-error.ts';
import { idempotencyKey } from '../requests/idempotency-key.ts';
import { turnMessage } from '../requests/turn-message.ts';
import type { RateLimits } from '../security/rate-limits.ts';
import { Recipient } from '../stream/recipient.ts';
import { encodeAccepted, encodeRefusal, encodeResumable, encodeResumed } from '../stream/resumable-frames.ts';
import { ResumingReader } from '../stream/resuming-reader.ts';
import { encodeError, encodeOutcome } from '../stream/server-frames.ts';
import type { SignalFanOut } from '../stream/signal-fan-out.ts';
import type { SignalReader } from '../stream/signal-frames.ts';
import { type ClientFrame, decodeFrame, messageIdOf } from './client-frames.ts';

export interface ConnectionParts {
  readonly bus: Bus;
  readonly fanOut: SignalFanOut;
  readonly limits: RateLimits;
  readonly maxRequestBytes: LimitsConfig['requestBytes'];
  readonly log: Log;
}

/** What a client asks for, and who it is. */
export type ConnectionQuery = StreamQuery & { readonly context: RequestContext };

const NORMAL_CODE = 1000;
/** "Unexpected condition": the client may connect again. */
const UNEXPECTED_CODE = 1011;

const NOTHING_BEFORE: Promise<void> = Promise.resolve();

/** Room for the JSON around an image. */
const FRAME_OVERHEAD_BYTES = 64 * 1024;

/** Most bytes of a frame: an image of the greatest size, in base64, fits. False when sizes are not limited. */
export function maxFrameBytes(maxRequestBytes: LimitsConfig['requestBytes']): number | false {
  return maxRequestBytes === false ? false : Math.ceil(maxRequestBytes / 3) * 4 + FRAME_OVERHEAD_BYTES;
}

/** One client socket's life: frames become commands, refusals become `error` frames, and it stays open. */
export class Connection implements SocketLife {
  readonly #sessionId: SessionId;
  readonly #context: RequestContext;
  readonly #client: Recipient;
  readonly #socket: ClientSocket;
  readonly #parts: ConnectionParts;
  /** For a client that resumes. */
  readonly #reader: ResumingReader | null;
  /** What hears the session for it. */
  readonly #listener: SignalReader;
  /** What its messages are counted by; made with the first, because most clients are silent most of the time. */
  #id: string | null = null;
  /** Frames of one client are handled one after the other, so that they arrive in the order they were sent. */
  #inbox = NOTHING_BEFORE;

  constructor(query: ConnectionQuery, socket: ClientSocket, parts: ConnectionParts) {
    const { session, after, offset = 0, reasoning, context } = query;
    this.#sessionId = session;
    this.#context = context;
    this.#socket = socket;
    this.#client = new Recipient(socket);
    this.#parts = parts;
    this.#reader = after === undefined ? null : this.#resume({ seq: after, offset }, socket, reasoning === 1);
    this.#listener = this.#reader ?? (reasoning === 1 ? this.#client.withReasoning() : this.#client);
    parts.fanOut.join(session, this.#listener);
    this.#reader?.start();
  }

  /** Bytes kept for the client because it does not read. */
  get bufferedBytes(): number {
    return this.#socket.bufferedBytes();
  }

  /** Whether the client was given up because it does not read. */
  get givenUp(): boolean {
    return this.#client.givenUp;
  }

  drained(): void {
    this.#reader?.drained();
  }

  receive(text: string | null, bytes: number): void {
    this.#inbox = this.#inbox
      .then(() => this.#handle(text, bytes))
      .catch((error: unknown) => this.#refuse(error, text));
  }

  closed(): void {
    this.#parts.fanOut.leave(this.#sessionId, this.#listener);
    this.#reader?.close();
    if (this.#id !== null) void this.#parts.limits.messages.forget(this.#id);
  }

  async #handle(text: string | null, bytes: number): Promise<void> {
    this.#id ??= crypto.randomUUID();
    const allowance = await this.#parts.limits.messages.take(this.#id);
    if (allowance?.exceeded)
      throw limitExceeded(`${allowance.limit} messages a minute and connection`, allowance);
    const { maxRequestBytes } = this.#parts;
    const frameLimit = maxFrameBytes(maxRequestBytes);
    if (frameLimit !== false && bytes > frameLimit) throw tooLarge('a frame', frameLimit);
    if (text === null) {
      throw new ServiceError('INVALID_REQUEST', 'Binary frames are not accepted.', {
        issue: 'the frame is binary',
        suggestion: 'Send a text frame with a JSON object.',
      });
    }
    await this.#obey(decodeFrame(text, maxRequestBytes));
  }

  async #obey(frame: ClientFrame): Promise<void> {
    const { bus } = this.#parts;
    const [sessionId, context] = [this.#sessionId, this.#context];
    switch (frame.type) {
      case 'message':
        return this.#startTurn(frame);
      case 'cancel':
        await bus.send('turn.cancel', { sessionId, reason: 'the client cancelled it' }, context);
        return undefined;
      case 'approve':
      case 'deny': {
        const { type, ...answer } = frame;
        return bus.send('approval.answer', { sessionId, approved: type === 'approve', ...answer }, context);
      }
      case 'reset':
        return bus.send('session.reset', { sessionId }, context);
      default:
        return frame satisfies never;
    }
  }

  /** A message that was answered before is answered again, to this client alone. */
  async #startTurn({
    content: text,
    imageData: image,
    whenBusy,
    clientMessageId,
  }: MessageFrame): Promise<void> {
    const key =
      clientMessageId === undefined ? undefined : await idempotencyKey(clientMessageId, { text, image });
    const sessionId = this.#sessionId;
    const message = turnMessage({ sessionId, text, image, whenBusy, key });
    const accepted = await this.#parts.bus.send('turn.start', message, this.#context);
    const { outcome } = accepted;
    if (!this.#reader) {
      if (outcome) this.#client.send(encodeOutcome(outcome));
    } else if (clientMessageId !== undefined && accepted.turnId !== message.turnId) {
      this.#client.send(encodeAccepted(clientMessageId, accepted.turnId, outcome));
    }
  }

  #resume(position: StreamPosition, socket: ClientSocket, wantsReasoning: boolean): ResumingReader {
    return new ResumingReader(this.#sessionId, position, {
      bus: this.#parts.bus,
      context: this.#context,
      sink: socket,
      encode: encodeResumable,
      encodeResumed,
      wantsReasoning,
      onEnd: () => socket.end(NORMAL_CODE, 'the session was deleted'),
      onError: (error) => {
        this.#refuse(error);
        socket.end(UNEXPECTED_CODE, 'the session could not be read');
      },
    });
  }

  /** @param frame what is refused. A client that resumes is told which of its messages it was. */
  #refuse(thrown: unknown, frame: string | null = null): void {
    const fields = { sessionId: this.#sessionId };
    const error = clientError(thrown, this.#parts.log, fields, 'a frame could not be handled');
    const messageId = this.#reader && frame !== null ? messageIdOf(frame) : undefined;
    this.#client.send(messageId === undefined ? encodeError(error) : encodeRefusal(error, messageId));
  }
}
