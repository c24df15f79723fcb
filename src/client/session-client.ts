/// <reference lib="esnext.disposable" preserve="true" />

import type {
  ApproveFrame,
  CallAnswerRequest,
  CancelFrame,
  DenyFrame,
  InputAnswerFrame,
  ResetFrame,
  ToolResultFrame,
} from '../wire/requests.ts';
import { Admission } from './admission.ts';
import { type ClientEnvironment, standardEnvironment } from './client-environment.ts';
import { type OutgoingMessage, requireMessageId, type UnsentMessage } from './outgoing.ts';
import { Patience } from './patience.ts';
import { PendingReplies } from './pending-replies.ts';
import { ClosedError } from './session-errors.ts';
import type { ConnectOptions, Receipt, SendOptions, SessionStatus } from './session-options.ts';
import { SessionStream } from './session-stream.ts';
import { SocketSource } from './socket-source.ts';
import { START, type StreamEvent, type StreamPosition } from './stream-position.ts';
import { webUrl } from './stream-url.ts';
import { UnreadEvents } from './unread-events.ts';
import { type Begin, type WaitOptions, waitWithin } from './wait-limits.ts';

export type { TokenSource } from './admission.ts';
export type { ClientEnvironment, StreamSocket } from './client-environment.ts';
export type { UnsentMessage } from './outgoing.ts';
export {
  ClosedError,
  MissingWebSocketError,
  ProtocolError,
  type RefusalCause,
  RefusedError,
  SessionLostError,
  TimeoutError,
  UnansweredError,
  UnreachableError,
  WithdrawnError,
} from './session-errors.ts';
export type { ConnectOptions, Receipt, SendOptions, SessionStatus } from './session-options.ts';
export type { SocketClass } from './socket-source.ts';
export type { ReasoningPosition, StreamEvent, StreamPosition } from './stream-position.ts';
export type { WaitOptions } from './wait-limits.ts';

const MAX_QUEUED_EVENTS = 1_000;

/**
 * Connects to a session, and reconnects whenever the connection is lost, until `close`. Returns at once; `ready`, `status`
 * and `onStatus` say when the connection is there.
 *
 * When the service refuses the connection for good (a wrong id, address or host, or no permission), the client fails:
 * `ready`, `send`, `ask`, the commands and the loop reject with a `RefusedError`. A page of an origin that the service does
 * not accept cannot read that refusal, so there the client goes on trying: see `onRetry` and `timeoutMs`.
 * @throws TypeError when `url` is not a URL of the web; RangeError when `timeoutMs` is no time.
 */
export function connect(options: ConnectOptions): SessionClient {
  return new SessionClient(options);
}

/** What waits for an answer, besides messages. */
interface Waiter {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

type CommandFrame = CancelFrame | ApproveFrame | DenyFrame | ToolResultFrame | InputAnswerFrame | ResetFrame;

/** What came of a call of a tool that the client has lent. */
export type CallAnswer = CallAnswerRequest;

/** The answer to what a tool server asks. */
export type InputReply = Pick<InputAnswerFrame, 'action' | 'content'>;

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
 * The loop throws when the stream cannot continue: a `RefusedError`, `ProtocolError`, `SessionLostError`, `TimeoutError` or
 * `MissingWebSocketError`, or the reason of the signal. The client is then closed, and all later calls reject with the
 * same error.
 */
export class SessionClient implements AsyncIterable<StreamEvent, undefined>, Disposable {
  readonly #environment: ClientEnvironment;
  readonly #stream: SessionStream;
  readonly #unread: UnreadEvents;
  readonly #replies = new PendingReplies();
  readonly #patience: Patience;
  readonly #signal: AbortSignal | undefined;
  /** Calls that wait for the connection. */
  readonly #waiting = new Set<Waiter>();
  /** Why the client is closed. */
  #end: unknown;
  /** The loop that reads. */
  #loop: symbol | null = null;

  constructor({ url: base, session = 'default', position = START, token, ...options }: ConnectOptions) {
    const target = {
      base: webUrl(base),
      session,
      reasoning: options.reasoning ?? false,
      time: options.time ?? false,
      statecharts: options.onMachines !== undefined,
    };
    const sockets = new SocketSource(options.WebSocket);
    this.#environment = { ...standardEnvironment, openSocket: sockets.open, ...options.environment };
    this.#unread = new UnreadEvents(options.maxQueuedEvents ?? MAX_QUEUED_EVENTS, position);
    this.#patience = new Patience(options.timeoutMs, (error) => this.#fail(error));
    this.#signal = options.signal;
    const { fetch } = this.#environment;
    this.#stream = new SessionStream({
      environment: this.#environment,
      admission: token === undefined ? null : new Admission({ base: target.base, token, fetch }),
      target,
      position,
      onEvent: (event, after, before) => {
        this.#replies.note(event);
        this.#unread.add(event, after, before);
      },
      isNeeded: () => !this.#unread.isOverflowing || !this.#replies.isEmpty,
      onStatus: (status) => this.#noteStatus(status, options.onStatus),
      onUnsent: options.onUnsent ?? (() => undefined),
      onMachines: options.onMachines ?? (() => undefined),
      onRetry: (error, delayMs) => {
        this.#patience.failed(error);
        options.onRetry?.(error, delayMs);
      },
      onError: (error) => this.#fail(error),
    });
    this.#start(options.environment?.openSocket || sockets.isLoaded ? null : sockets);
  }

  /** How far the loop has read. Store it, and pass it to a later `connect` to continue there. */
  get position(): StreamPosition {
    return this.#unread.readPosition;
  }

  get status(): SessionStatus {
    return this.#stream.status;
  }

  /**
   * The messages that were not sent yet, because there is no connection, in their order. `withdraw` takes one back. The
   * same list until it changes.
   */
  get unsent(): readonly UnsentMessage[] {
    return this.#stream.unsent;
  }

  /**
   * Resolves as soon as there is a connection. Rejects when the client has failed: with a `RefusedError` when the service
   * refuses the connection for good.
   */
  ready(options: WaitOptions = {}): Promise<void> {
    return this.#waitWithin(options, (resolve, reject) => {
      this.#requireOpen();
      const waiter = { resolve, reject };
      if (this.status === 'connecting') this.#waiting.add(waiter);
      else resolve();
      return () => this.#waiting.delete(waiter);
    });
  }

  /**
   * Sends a message. Resolves when the service has recorded it in its log.
   *
   * Rejects with a `RefusedError` when the service refuses the message or the connection, with a `WithdrawnError` when it
   * was withdrawn, with a `ClosedError` when the client is closed, and with an `UnansweredError` when the connection broke
   * five times before the service answered. A message that was not sent when `signal` or `timeoutMs` ends the wait is
   * never sent.
   */
  send(content: string, options: SendOptions = {}): Promise<Receipt> {
    return this.#waitWithin(options, (resolve, reject) =>
      this.#post(content, options, {
        onAccepted: ({ clientMessageId, turnId }) => resolve({ clientMessageId, turnId }),
        onRefused: reject,
      }),
    );
  }

  /**
   * Sends a message and resolves to the complete reply. If a token limit cut the reply, the `response` event has
   * `finishReason: 'length'`.
   *
   * Rejects as `send` does, and with a `RefusedError` when the turn fails or is cancelled; its `cause` is that of the turn.
   * `signal` and `timeoutMs` end the wait, but do not cancel a turn that has begun.
   */
  ask(content: string, options: SendOptions = {}): Promise<string> {
    return this.#waitWithin(options, (resolve, reject) => {
      let forgetReply = (): void => undefined;
      const forgetMessage = this.#post(content, options, {
        onAccepted: (accepted) => {
          forgetReply = this.#replies.wait(accepted, resolve, reject);
        },
        onRefused: reject,
      });
      return () => {
        forgetMessage();
        forgetReply();
      };
    });
  }

  /**
   * Takes back a message of `unsent`: it is never sent, and its `send` or `ask` rejects with a `WithdrawnError`.
   * @returns false when the message was sent already, or there is no such message.
   */
  withdraw(clientMessageId: string): boolean {
    return this.#stream.withdraw(clientMessageId);
  }

  /**
   * Cancels the running turn.
   *
   * Like `approve`, `deny` and `reset`, the command is sent once: now, or as soon as there is a connection. The promise
   * resolves when the service has done it. It rejects with a `RefusedError` when the service refuses it, and with an
   * `UnansweredError` when the connection broke before the answer. It may be ignored: a refusal is also an `error` event
   * with `commandId`.
   */
  cancel(options: WaitOptions = {}): Promise<void> {
    return this.#command({ type: 'cancel' }, options);
  }

  /**
   * Approves a tool call that waits for approval.
   * @param argumentsHash The hash of the `toolApproval` event. The service refuses the approval when the call has other
   * arguments.
   */
  approve(callId: string, argumentsHash?: string, options: WaitOptions = {}): Promise<void> {
    return this.#command(
      { type: 'approve', callId, ...(argumentsHash !== undefined && { argumentsHash }) },
      options,
    );
  }

  /**
   * Denies a tool call that waits for approval.
   * @param reason The model gets it.
   */
  deny(callId: string, reason?: string, options: WaitOptions = {}): Promise<void> {
    return this.#command({ type: 'deny', callId, ...(reason !== undefined && { reason }) }, options);
  }

  /**
   * Says what came of a call of a tool that was lent with `clientTools`, as a `clientToolCall` event asks for it.
   * @param answer A text is the `content` of the result.
   */
  answerCall(callId: string, answer: string | CallAnswer, options: WaitOptions = {}): Promise<void> {
    const result = typeof answer === 'string' ? { content: answer } : answer;
    return this.#command({ type: 'toolResult', callId, ...result }, options);
  }

  /**
   * Answers what a tool server asks, as an `inputRequired` event says.
   * @param answer `content` comes with `accept`, if the question has a form. The service checks it.
   */
  answerInput(inputId: string, answer: InputReply, options: WaitOptions = {}): Promise<void> {
    return this.#command({ type: 'inputAnswer', inputId, ...answer }, options);
  }

  /** Cancels the running turn and the waiting messages, and starts a new conversation. */
  reset(options: WaitOptions = {}): Promise<void> {
    return this.#command({ type: 'reset' }, options);
  }

  /** Closes the client for good. The loop ends, and open `send` and `ask` calls reject with a `ClosedError`. */
  close(): void {
    this.#finish(new ClosedError(), () => this.#unread.close());
  }

  [Symbol.dispose](): void {
    this.close();
  }

  /** @throws Error when another loop reads the session. */
  [Symbol.asyncIterator](): AsyncIterator<StreamEvent, undefined> {
    if (this.#loop !== null) throw new Error('another loop already reads this session');
    const loop = Symbol('loop');
    this.#loop = loop;
    const end = { done: true, value: undefined } as const;
    let isLeft = false;
    return {
      next: async () => (isLeft ? end : this.#nextOrLast(loop)),
      return: async () => {
        isLeft = true;
        this.#leave(loop);
        return end;
      },
    };
  }

  /** A `next` that is still open would take an event from the next loop. */
  #leave(loop: symbol): void {
    if (this.#loop !== loop) return;
    this.#loop = null;
    this.#unread.release();
  }

  async #next(): Promise<IteratorResult<StreamEvent, undefined>> {
    const { resumeFrom } = this.#unread;
    if (resumeFrom && this.status !== 'closed')
      this.#stream.rewind({ position: resumeFrom, onBegin: () => this.#unread.resumed() });
    return await this.#unread.next();
  }

  /** A loop that ends, or throws, does not call `return`. */
  async #nextOrLast(loop: symbol): Promise<IteratorResult<StreamEvent, undefined>> {
    let isLast = true;
    try {
      const next = await this.#next();
      isLast = next.done === true;
      return next;
    } finally {
      if (isLast) this.#leave(loop);
    }
  }

  #start(sockets: SocketSource | null): void {
    this.#signal?.addEventListener('abort', this.#abort, { once: true });
    if (this.#signal?.aborted) this.#abort();
    else if (sockets === null) this.#stream.open();
    else
      sockets.load().then(
        () => this.#stream.open(),
        (error: unknown) => this.#fail(error),
      );
  }

  readonly #abort = (): void => this.#fail(this.#signal?.reason);

  #noteStatus(status: SessionStatus, onStatus: ConnectOptions['onStatus']): void {
    this.#patience.note(status);
    if (status === 'live') {
      for (const { resolve } of this.#waiting) resolve();
      this.#waiting.clear();
    }
    onStatus?.(status);
  }

  /** @returns what to call when nobody waits any longer. */
  #post(
    content: string,
    { clientMessageId = this.#environment.randomId(), signal: _, timeoutMs: __, ...options }: SendOptions,
    callbacks: Pick<OutgoingMessage, 'onAccepted' | 'onRefused'>,
  ): () => void {
    this.#requireOpen();
    requireMessageId(clientMessageId);
    const text = JSON.stringify({ type: 'message', content, ...options, clientMessageId });
    const message = { clientMessageId, content, text, ...callbacks };
    this.#stream.sendMessage(message);
    return () => this.#stream.forget(message);
  }

  #command(frame: CommandFrame, limits: WaitOptions): Promise<void> {
    const done = this.#waitWithin<void>(limits, (resolve, reject) => {
      this.#requireOpen();
      const commandId = this.#environment.randomId();
      const text = JSON.stringify({ ...frame, commandId });
      const command = { commandId, text, onDone: resolve, onRefused: reject };
      this.#stream.sendCommand(command);
      return () => this.#stream.forget(command);
    });
    // A caller may ignore the promise, because the loop tells of a refusal, too.
    done.catch(() => undefined);
    return done;
  }

  #requireOpen(): void {
    if (this.status === 'closed') throw this.#end;
  }

  #waitWithin<T>(limits: WaitOptions, begin: Begin<T>): Promise<T> {
    return waitWithin(limits, begin, () => this.#patience.reason);
  }

  #fail(error: unknown): void {
    this.#finish(error, () => this.#unread.fail(error));
  }

  #finish(error: unknown, endIteration: () => void): void {
    if (this.status === 'closed') return;
    this.#end = error;
    this.#signal?.removeEventListener('abort', this.#abort);
    endIteration();
    this.#replies.failAll(error);
    for (const { reject } of this.#waiting) reject(error);
    this.#waiting.clear();
    this.#stream.close(error);
  }
}
