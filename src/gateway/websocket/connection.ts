import { isSameSession } from '../../core/access/session-names.ts';
import type { ServiceError } from '../../core/errors.ts';
import type { SessionId } from '../../core/ids.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import type { StreamPosition } from '../../core/session/stream-cursor.ts';
import { CANCELLED_BY_CLIENT } from '../../core/turn/ending-reasons.ts';
import type { Bus } from '../../ports/bus.ts';
import { type ClientSocket, RESTART_CODE, RESTART_REASON } from '../../ports/client-socket.ts';
import type { Logger } from '../../ports/logger.ts';
import type { SocketLife } from '../../ports/web-server.ts';
import type { AuthFrame, MessageFrame, StreamQuery } from '../../wire/requests.ts';
import { clientError } from '../requests/client-error.ts';
import { idempotencyKey } from '../requests/idempotency-key.ts';
import { messageOptions } from '../requests/message-options.ts';
import type { FrameLimitsDeps } from '../security/frame-limits.ts';
import type { CredentialHolder, HeldCredentials } from '../security/held-credentials.ts';
import { endLost } from '../security/lost-socket.ts';
import type { OpenConnections } from '../security/open-connections.ts';
import { RefusedFrames } from '../security/refused-frames.ts';
import { encodeMachine, encodeMachines } from '../stream/machine-frames.ts';
import { MachineReader } from '../stream/machine-reader.ts';
import { Recipient } from '../stream/recipient.ts';
import {
  encodeAccepted,
  encodeDone,
  encodeRefusal,
  encodeResumable,
  encodeResumed,
  encodeTimed,
} from '../stream/resumable-frames.ts';
import { ResumingReader } from '../stream/resuming-reader.ts';
import { encodeError, encodeOutcome, encodeQueued } from '../stream/server-frames.ts';
import type { SignalFanOut } from '../stream/signal-fan-out.ts';
import type { SignalReader } from '../stream/signal-frames.ts';
import { answeredOutcome } from '../turns/answered-outcome.ts';
import { queuedBehind } from '../turns/queued-message.ts';
import { turnMessage } from '../turns/turn-message.ts';
import { type ClientFrame, decodeFrame, frameIdOf, unsupportedType } from './client-frames.ts';
import { FrameInbox } from './frame-inbox.ts';

export interface ConnectionDeps extends FrameLimitsDeps {
  readonly bus: Bus;
  /** Absent where nobody is authenticated. */
  readonly credentials?: HeldCredentials | undefined;
  readonly fanOut: SignalFanOut;
  /** The connection was counted. */
  readonly connections: Pick<OpenConnections, 'leave'>;
  readonly log: Logger;
  /** The socket is closed. */
  readonly onClosed: (connection: Connection) => void;
}

/** The query of a client, and who the client is. */
export interface ConnectionQuery extends StreamQuery {
  /** Where the client hears the session, whatever it may do later. */
  readonly topic: SessionId;
  readonly context: RequestContext;
  readonly address: string;
}

const NORMAL_CODE = 1000;
/** "Unexpected condition": the client may connect again. */
const UNEXPECTED_CODE = 1011;

/** One client socket. Frames become commands, and refusals become `error` frames, which leave the socket open. */
export class Connection extends Recipient implements SocketLife, CredentialHolder {
  readonly #address: string;
  readonly #sessionId: SessionId;
  readonly #topic: SessionId;
  #context: RequestContext;
  readonly #deps: ConnectionDeps;
  /** Null for a client that does not ask for the states of machines. */
  #machines: MachineReader | null = null;
  /** The reader that has joined the session: the client itself, or what reads for it. */
  readonly #listener: SignalReader;
  /** Created with the first frame, because most clients are silent most of the time. */
  #inbox: FrameInbox | null = null;
  #isClosed = false;

  constructor(query: ConnectionQuery, socket: ClientSocket, deps: ConnectionDeps) {
    const { session, topic, after, offset = 0, reasoning, context, address } = query;
    super(socket);
    this.#address = address;
    this.#sessionId = session;
    this.#topic = topic;
    this.#context = context;
    this.#deps = deps;
    // Throws where the client's rights have ended since it was admitted.
    deps.bus.recheck(session, context);
    deps.credentials?.hold(this, context);
    if (after !== undefined) this.#listener = this.#resume({ seq: after, offset }, query);
    else this.#listener = reasoning === 1 ? this.withReasoning() : this;
    deps.fanOut.join(this.#topic, this.#listener);
    this.#reader?.start();
  }

  /** Null for a client that does not resume. */
  get #reader(): ResumingReader | null {
    return this.#listener instanceof ResumingReader ? this.#listener : null;
  }

  /** Bytes that wait for the client to read. */
  get bufferedBytes(): number {
    return this.socket.bufferedBytes();
  }

  drained(): void {
    this.#reader?.drained();
    this.#machines?.drained();
  }

  receive(text: string | null, bytes: number): void {
    this.#inbox ??= new FrameInbox(
      this.#deps,
      {
        handle: (frame) => this.#handle(frame),
        refuse: (error, frame) => {
          const refusal = this.#refusalOf(error, frame);
          return () => this.send(refusal);
        },
      },
      new RefusedFrames(this.socket),
    );
    this.#inbox.take(this.#context, text, bytes);
  }

  /** Ends the socket as soon as nothing runs in its session. The client should connect again. */
  async endAtRest(): Promise<void> {
    // A message that was received just now may start a turn.
    await this.#inbox?.handled;
    await this.#deps.bus.send('session.rest', { sessionId: this.#sessionId }, this.#context);
    this.end();
  }

  /** Ends the socket now. The client should connect again. */
  end(): void {
    this.socket.end(RESTART_CODE, RESTART_REASON);
  }

  check(): void {
    this.#deps.bus.recheck(this.#sessionId, this.#context);
  }

  lose(error: ServiceError): void {
    this.#inbox?.drop();
    this.send(encodeError(error));
    endLost(this.socket, error);
  }

  closed(): void {
    const { credentials, fanOut, connections } = this.#deps;
    this.#isClosed = true;
    connections.leave(this.#context, this.#address);
    credentials?.release(this);
    fanOut.leave(this.#topic, this.#listener);
    this.#reader?.close();
    this.#machines?.close();
    this.#deps.onClosed(this);
    this.#inbox?.closed();
  }

  async #handle(text: string): Promise<void> {
    const { maxRequestBytes: maxImageBytes, credentials } = this.#deps;
    try {
      const frame = decodeFrame(text, {
        maxImageBytes,
        isSession: (named) => isSameSession(named, this.#sessionId, this.#context),
        isAuthenticated: credentials !== undefined,
      });
      await this.#execute(frame);
    } catch (error) {
      this.send(this.#refusalOf(error, text));
    }
  }

  async #execute(frame: ClientFrame): Promise<void> {
    if (frame.type === 'message') return this.#startTurn(frame);
    await this.#command(frame);
    if (this.#reader && frame.commandId !== undefined) this.send(encodeDone(frame.commandId));
  }

  async #command(frame: Exclude<ClientFrame, MessageFrame>): Promise<void> {
    const { bus } = this.#deps;
    const [sessionId, context] = [this.#sessionId, this.#context];
    switch (frame.type) {
      case 'cancel':
        await bus.send('turn.cancel', { sessionId, reason: CANCELLED_BY_CLIENT }, context);
        return undefined;
      case 'toolResult': {
        const { callId } = frame;
        const outcome = answeredOutcome(frame);
        return bus.send('tool-call.answer', { sessionId, callId, outcome }, context);
      }
      case 'inputAnswer': {
        const { type: _, commandId: __, ...answer } = frame;
        return bus.send('input.answer', { sessionId, ...answer }, context);
      }
      case 'approve':
      case 'deny': {
        const { type, commandId: _, ...answer } = frame;
        return bus.send('approval.answer', { sessionId, approved: type === 'approve', ...answer }, context);
      }
      case 'reset':
        return bus.send('session.reset', { sessionId }, context);
      case 'auth':
        return this.#renew(frame);
      default:
        return frame satisfies never;
    }
  }

  /** The client goes on with another credential of the same principal. */
  async #renew({ token }: AuthFrame): Promise<void> {
    const { bus, credentials } = this.#deps;
    if (!credentials) throw unsupportedType('auth', false);
    const { rights } = await credentials.identifyAgain(token, this.#context, this.#address);
    // Nothing would release what is held for a socket that was closed meanwhile.
    if (this.#isClosed) return;
    const context = { ...this.#context, rights };
    // Throws if the client may not hear the session any more.
    bus.recheck(this.#sessionId, context);
    this.#context = context;
    credentials.hold(this, context);
    if (this.#machines) {
      // The reader still uses the former rights, so start a new one.
      this.#machines.close();
      this.#showMachines();
    }
  }

  /** A repeated message is answered to this client alone. */
  async #startTurn({
    content: text,
    imageData: image,
    whenBusy,
    clientMessageId,
    ...wanted
  }: MessageFrame): Promise<void> {
    const options = messageOptions(wanted);
    const payload = { text, image, ...options };
    const key = clientMessageId === undefined ? undefined : await idempotencyKey(clientMessageId, payload);
    const sessionId = this.#sessionId;
    const message = turnMessage({ sessionId, text, image, options, whenBusy, key });
    const accepted = await this.#deps.bus.send('turn.start', message, this.#context);
    const { turnId, outcome, waitsFor } = accepted;
    if (waitsFor) {
      const queued = queuedBehind({ agentPath: this.#context.agentPath, sessionId }, waitsFor);
      this.send(encodeQueued(queued, this.#reader ? turnId : undefined));
    }
    if (!this.#reader) {
      if (outcome) this.send(encodeOutcome(outcome));
    } else if (clientMessageId !== undefined && turnId !== message.turnId) {
      this.send(encodeAccepted(clientMessageId, turnId, outcome));
    }
  }

  #resume(position: StreamPosition, { reasoning, time, statecharts }: ConnectionQuery): ResumingReader {
    const socket = this.socket;
    return new ResumingReader(this.#sessionId, position, {
      bus: this.#deps.bus,
      context: () => this.#context,
      sink: socket,
      encode: time === 1 ? encodeTimed : encodeResumable,
      encodeResumed,
      wantsReasoning: reasoning === 1,
      ...(statecharts === 1 && { onResumed: () => this.#showMachines() }),
      onEnd: () => socket.end(NORMAL_CODE, 'the session was deleted'),
      onError: (error) => {
        this.send(this.#refusalOf(error));
        socket.end(UNEXPECTED_CODE, 'the session could not be read');
      },
    });
  }

  #showMachines(): void {
    this.#machines = new MachineReader({
      bus: this.#deps.bus,
      context: this.#context,
      filter: {},
      sink: this.socket,
      encodeAll: encodeMachines,
      encode: encodeMachine,
    });
  }

  /** @param frame text of the refused frame. A client that resumes gets the id of its message or command back. */
  #refusalOf(thrown: unknown, frame: string | null = null): string {
    const fields = { sessionId: this.#sessionId };
    const error = clientError(thrown, this.#deps.log, fields, 'a frame could not be handled');
    const id = this.#reader && frame !== null ? frameIdOf(frame) : undefined;
    return id === undefined ? encodeError(error) : encodeRefusal(error, id);
  }
}
