/// <reference lib="esnext.disposable" preserve="true" />

import type { ApproveFrame, CancelFrame, DenyFrame, ResetFrame } from '../wire/requests.ts';
import { type ClientEnvironment, standardEnvironment } from './client-environment.ts';
import type { OutgoingMessage } from './outgoing.ts';
import { PendingReplies } from './pending-replies.ts';
import { ClosedError } from './session-errors.ts';
import type { ConnectOptions, Receipt, SendOptions, SessionStatus } from './session-options.ts';
import { SessionStream } from './session-stream.ts';
import { START, type StreamEvent, type StreamPosition } from './stream-position.ts';
import { UnreadEvents } from './unread-events.ts';

export type { ClientEnvironment, StreamSocket } from './client-environment.ts';
export { ClosedError, ProtocolError, RefusedError, SessionLostError } from './session-errors.ts';
export type { ConnectOptions, Receipt, SendOptions, SessionStatus } from './session-options.ts';
export type { ReasoningPosition, StreamEvent, StreamPosition } from './stream-position.ts';

const MAX_QUEUED_EVENTS = 1_000;

/**
 * Connects to a session, and reconnects whenever the connection is lost, until `close`. Returns at once; `status` and
 * `onStatus` say when the connection is there.
 * @throws TypeError when `url` is not a URL.
 */
export function connect(options: ConnectOptions): SessionClient {
  return new SessionClient(options);
}

/**
 * A client of one session. Iterating over it yields each event and each piece of the reply once, in order:
 *
 * - After a `turnResumed` event the text of the running step starts again from its beginning.
 * - With `reasoning`, each piece of the model's reasoning comes once and in order. Pieces that are missed are not sent
 *   after their step has ended.
 * - Leaving the loop closes nothing. The next loop continues where it stopped. Only one loop can read at a time.
 * - If the loop stops reading, the client closes the connection after `maxQueuedEvents` events. It connects again and
 *   fetches the rest when the loop has read them.
 *
 * The loop throws a `ProtocolError` or a `SessionLostError` when the stream cannot continue. The client is then closed.
 */
export class SessionClient implements AsyncIterable<StreamEvent, undefined>, Disposable {
  readonly #environment: ClientEnvironment;
  readonly #stream: SessionStream;
  readonly #unread: UnreadEvents;
  readonly #replies = new PendingReplies();
  #isIterated = false;

  constructor({ url: base, session = 'default', position = START, ...options }: ConnectOptions) {
    this.#environment = { ...standardEnvironment, ...options.environment };
    this.#unread = new UnreadEvents(options.maxQueuedEvents ?? MAX_QUEUED_EVENTS, position);
    this.#stream = new SessionStream({
      environment: this.#environment,
      target: { base, session, reasoning: options.reasoning ?? false },
      position,
      onEvent: (event, after, before) => {
        this.#replies.note(event);
        this.#unread.add(event, after, before);
      },
      isNeeded: () => !this.#unread.isOverflowing || !this.#replies.isEmpty,
      onStatus: options.onStatus ?? (() => undefined),
      onError: (error) => this.#end(error, () => this.#unread.fail(error)),
    });
    this.#stream.open();
  }

  /** How far the loop has read. Store it, and pass it to a later `connect` to continue there. */
  get position(): StreamPosition {
    return this.#unread.readPosition;
  }

  get status(): SessionStatus {
    return this.#stream.status;
  }

  /**
   * Sends a message. Resolves when the service has recorded it in its log.
   *
   * Rejects with a `RefusedError` when the service refuses the message, with a `ClosedError` when the client is closed,
   * and with an `Error` when the connection broke five times before the service answered.
   */
  send(content: string, options: SendOptions = {}): Promise<Receipt> {
    return new Promise((resolve, reject) => {
      this.#post(content, options, {
        onAccepted: ({ clientMessageId, turnId }) => resolve({ clientMessageId, turnId }),
        onRefused: reject,
      });
    });
  }

  /**
   * Sends a message and resolves to the complete reply. If a token limit cut the reply, the `response` event has
   * `finishReason: 'length'`.
   *
   * Rejects as `send` does, and with a `RefusedError` when the turn fails or is cancelled.
   */
  ask(content: string, options: SendOptions = {}): Promise<string> {
    return new Promise((resolve, reject) => {
      this.#post(content, options, {
        onAccepted: (accepted) => this.#replies.wait(accepted, resolve, reject),
        onRefused: reject,
      });
    });
  }

  /**
   * Cancels the running turn. Like `approve`, `deny` and `reset`, the command is sent once: now, or as soon as there is
   * a connection. If the service refuses it, an `error` event without `seq` follows.
   * @throws ClosedError when the client is closed.
   */
  cancel(): void {
    this.#command({ type: 'cancel' });
  }

  /**
   * Approves a tool call that waits for approval.
   * @param argumentsHash The hash of the `toolApproval` event. The service refuses the approval when the call has other
   * arguments.
   * @throws ClosedError when the client is closed.
   */
  approve(callId: string, argumentsHash?: string): void {
    this.#command({ type: 'approve', callId, ...(argumentsHash !== undefined && { argumentsHash }) });
  }

  /**
   * Denies a tool call that waits for approval.
   * @param reason The model gets it.
   * @throws ClosedError when the client is closed.
   */
  deny(callId: string, reason?: string): void {
    this.#command({ type: 'deny', callId, ...(reason !== undefined && { reason }) });
  }

  /**
   * Cancels the running turn and the waiting messages, and starts a new conversation.
   * @throws ClosedError when the client is closed.
   */
  reset(): void {
    this.#command({ type: 'reset' });
  }

  /** Closes the client for good. The loop ends, and open `send` and `ask` calls reject with a `ClosedError`. */
  close(): void {
    this.#end(new ClosedError(), () => this.#unread.close());
  }

  [Symbol.dispose](): void {
    this.close();
  }

  /** @throws Error when another loop reads the session. */
  [Symbol.asyncIterator](): AsyncIterator<StreamEvent, undefined> {
    if (this.#isIterated) throw new Error('another loop already reads this session');
    this.#isIterated = true;
    return {
      next: () => this.#next(),
      return: async () => {
        this.#isIterated = false;
        return { done: true, value: undefined };
      },
    };
  }

  async #next(): Promise<IteratorResult<StreamEvent, undefined>> {
    const { resumeFrom } = this.#unread;
    if (resumeFrom && this.status !== 'closed') {
      this.#unread.resumed();
      this.#stream.rewind(resumeFrom);
    }
    return await this.#unread.next();
  }

  #post(
    content: string,
    { clientMessageId = this.#environment.randomId(), ...options }: SendOptions,
    callbacks: Pick<OutgoingMessage, 'onAccepted' | 'onRefused'>,
  ): void {
    if (this.status === 'closed') throw new ClosedError();
    const text = JSON.stringify({ type: 'message', content, ...options, clientMessageId });
    this.#stream.sendMessage({ clientMessageId, text, ...callbacks });
  }

  #command(frame: CancelFrame | ApproveFrame | DenyFrame | ResetFrame): void {
    if (this.status === 'closed') throw new ClosedError();
    this.#stream.sendCommand(JSON.stringify(frame));
  }

  #end(error: unknown, endIteration: () => void): void {
    if (this.status === 'closed') return;
    endIteration();
    this.#replies.failAll(error);
    this.#stream.close(error);
  }
}
