/// <reference lib="esnext.disposable" preserve="true" />

import type { Image } from '../core/conversation/image.ts';
import type { WhenBusy } from '../core/session/when-busy.ts';
import type { ResumableFrame } from '../wire/frames.ts';
import type { ApproveFrame, CancelFrame, DenyFrame, ResetFrame } from '../wire/requests.ts';
import { type ClientEnvironment, standardEnvironment } from './client-environment.ts';
import { EventQueue } from './event-queue.ts';
import { type Accepted, Outgoing } from './outgoing.ts';
import { PendingReplies } from './pending-replies.ts';
import { ClosedError, ProtocolError, SessionLostError } from './session-errors.ts';
import { StreamLink } from './stream-link.ts';
import { advance, START, type StreamEvent, type StreamPosition } from './stream-position.ts';
import { streamUrl } from './stream-url.ts';

export type { ClientEnvironment, StreamSocket } from './client-environment.ts';
export { ClosedError, ProtocolError, RefusedError, SessionLostError } from './session-errors.ts';
export type { ReasoningPosition, StreamEvent, StreamPosition } from './stream-position.ts';

/** `paused`: nobody reads, so nothing is fetched. */
export type SessionStatus = 'connecting' | 'live' | 'paused' | 'closed';

export interface ConnectOptions {
  /** Of the service, such as `http://127.0.0.1:3001`. */
  readonly url: string | URL;
  /** `default` when left out. */
  readonly session?: string;
  /** What was read before, as `position` said; from the beginning when left out. */
  readonly position?: StreamPosition;
  /**
   * Whether to be told what the model thinks aloud, live: `thinking` events with `data.reasoning`. What
   * `llm.keepReasoning` keeps of it comes with `stepCompleted` in any case.
   */
  readonly reasoning?: boolean;
  /** Most events kept for an iterator that does not read. */
  readonly maxQueuedEvents?: number;
  readonly onStatus?: (status: SessionStatus) => void;
  readonly environment?: Partial<ClientEnvironment>;
}

export interface SendOptions {
  readonly imageData?: Image;
  readonly whenBusy?: WhenBusy;
  /** The same id again is the same message, also from another process. A new one when left out. */
  readonly clientMessageId?: string;
}

export interface Receipt {
  readonly clientMessageId: string;
  readonly turnId: string;
}

type AcceptedData = Extract<ResumableFrame, { event: 'accepted' }>['data'];

const MAX_QUEUED_EVENTS = 1_000;

/** Connects to a session, and again whenever the connection is lost, until it is closed. */
export function connect(options: ConnectOptions): SessionClient {
  return new SessionClient(options);
}

/**
 * One session of a service. Iterated, it gives each event once and each piece of text once, in order; a
 * `turnResumed` event says that the text of the running step begins anew. With `reasoning` each piece of what the
 * model thinks aloud comes once and in order too; what was missed when its step ends is not told any more. Leaving
 * the loop closes nothing: the next loop goes on where it was left. An iterator that does not read stops the
 * connection once `maxQueuedEvents` wait, and has it back when it has read them.
 */
export class SessionClient implements AsyncIterable<StreamEvent, undefined>, Disposable {
  readonly #environment: ClientEnvironment;
  readonly #link: StreamLink;
  readonly #queue: EventQueue<{ readonly event: StreamEvent; readonly position: StreamPosition }>;
  readonly #outgoing = new Outgoing();
  readonly #replies = new PendingReplies();
  readonly #onStatus: (status: SessionStatus) => void;
  #status: SessionStatus = 'connecting';
  /** Up to where frames have come, and up to where the iterator has read. */
  #received: StreamPosition;
  #read: StreamPosition;
  /** Where the queue ends, once it was full: from there the iterator is to be served again. */
  #queueEnd: StreamPosition | null = null;
  /** Seq of the session's last event when the connection was made. */
  #head = 0;
  #isIterated = false;

  constructor({ url: base, session = 'default', position = START, ...options }: ConnectOptions) {
    this.#environment = { ...standardEnvironment, ...options.environment };
    this.#onStatus = options.onStatus ?? (() => undefined);
    this.#queue = new EventQueue(options.maxQueuedEvents ?? MAX_QUEUED_EVENTS);
    this.#received = position;
    this.#read = position;
    const wish = { base, session, reasoning: options.reasoning ?? false };
    this.#link = new StreamLink({
      environment: this.#environment,
      url: () => streamUrl(wish, this.#received),
      onFrame: (frame) => this.#receive(frame),
      onLost: () => this.#lost(),
      onError: (error) => this.#end(error, () => this.#queue.fail(error)),
    });
    this.#link.open();
  }

  /** What was read of the session: to be kept, and given to `connect` later. */
  get position(): StreamPosition {
    return this.#read;
  }

  get status(): SessionStatus {
    return this.#status;
  }

  /** Resolves when the message is in the service's log; rejects with a `RefusedError` when it was refused. */
  send(content: string, options: SendOptions = {}): Promise<Receipt> {
    return new Promise((resolve, reject) => {
      const accepted = ({ clientMessageId, turnId }: Accepted): void => resolve({ clientMessageId, turnId });
      this.#post(content, options, accepted, reject);
    });
  }

  /**
   * Resolves to the reply, also to one that a token limit cut (`finishReason` of its `response` event); rejects
   * with a `RefusedError` when there is none.
   */
  ask(content: string, options: SendOptions = {}): Promise<string> {
    return new Promise((resolve, reject) => {
      const accepted = (message: Accepted): void => this.#replies.wait(message, resolve, reject);
      this.#post(content, options, accepted, reject);
    });
  }

  /** Ends the running turn: now, or as soon as there is a connection. */
  cancel(): void {
    this.#command({ type: 'cancel' });
  }

  /**
   * Lets a tool call that waits for it go ahead: now, or as soon as there is a connection.
   * @param argumentsHash of the `toolApproval` event: the call is refused when its arguments are others.
   */
  approve(callId: string, argumentsHash?: string): void {
    this.#command({ type: 'approve', callId, ...(argumentsHash !== undefined && { argumentsHash }) });
  }

  /** @param reason the model is told. */
  deny(callId: string, reason?: string): void {
    this.#command({ type: 'deny', callId, ...(reason !== undefined && { reason }) });
  }

  /** Begins the conversation anew: now, or as soon as there is a connection. */
  reset(): void {
    this.#command({ type: 'reset' });
  }

  /** For good. The loop ends, and what was not answered is rejected. */
  close(): void {
    this.#end(new ClosedError(), () => this.#queue.close());
  }

  [Symbol.dispose](): void {
    this.close();
  }

  [Symbol.asyncIterator](): AsyncIterator<StreamEvent, undefined> {
    if (this.#isIterated) throw new Error('the session is read by another loop already');
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
    if (this.#queueEnd && this.#queue.isEmpty && this.#status !== 'closed') this.#rewind(this.#queueEnd);
    const item = await this.#queue.next();
    if (item.done) return item;
    this.#read = item.value.position;
    return { done: false, value: item.value.event };
  }

  /** Has what the queue had no room for come again. */
  #rewind(position: StreamPosition): void {
    this.#disconnect('connecting');
    this.#queueEnd = null;
    this.#received = position;
    this.#link.open();
  }

  #receive(frame: ResumableFrame): void {
    if (frame.event === 'resumed') this.#resumed(frame.data);
    else if (frame.event === 'accepted') this.#accepted(frame.data, frame.turnId);
    else if (frame.event === 'error' && frame.clientMessageId !== undefined)
      this.#outgoing.refuse(frame.clientMessageId, frame.data);
    else this.#take(frame);
    this.#pauseIfUnneeded();
  }

  #resumed({ after, head }: { after: number; head: number }): void {
    if (after !== this.#received.seq) throw new ProtocolError(`the service resumed after event ${after}`);
    if (head < after) throw new SessionLostError(after, head);
    this.#head = head;
    this.#link.established();
    this.#become('live');
    this.#flush();
  }

  #accepted({ clientMessageId, ...end }: AcceptedData, turnId: string | undefined): void {
    if (turnId === undefined) throw new ProtocolError('a message was accepted without its turn');
    this.#outgoing.accept({ clientMessageId, turnId, end });
  }

  #take(received: StreamEvent): void {
    const before = this.#received;
    const { position, frame } = advance(before, received);
    this.#received = position;
    if (!frame) return;
    this.#note(frame);
    if (this.#queueEnd) return;
    if (!this.#queue.push({ event: frame, position })) this.#queueEnd = before;
  }

  #note(frame: StreamEvent): void {
    if (frame.seq === undefined) return;
    const { turnId } = frame;
    if (frame.event === 'message' && frame.data.clientMessageId !== undefined && turnId !== undefined)
      this.#outgoing.accept({ clientMessageId: frame.data.clientMessageId, turnId });
    this.#replies.note(frame);
    if (frame.seq === this.#head) this.#flush();
  }

  #post(
    content: string,
    { clientMessageId = this.#environment.randomId(), ...options }: SendOptions,
    onAccepted: (accepted: Accepted) => void,
    onRefused: (error: unknown) => void,
  ): void {
    if (this.#status === 'closed') throw new ClosedError();
    const text = JSON.stringify({ type: 'message', content, ...options, clientMessageId });
    this.#outgoing.message({ clientMessageId, text, onAccepted, onRefused });
    this.#transmit();
  }

  #command(frame: CancelFrame | ApproveFrame | DenyFrame | ResetFrame): void {
    if (this.#status === 'closed') throw new ClosedError();
    this.#outgoing.command(JSON.stringify(frame));
    this.#transmit();
  }

  #transmit(): void {
    if (this.#status === 'paused') {
      this.#become('connecting');
      this.#link.open();
    }
    this.#flush();
  }

  /** What may have arrived before is sent again only when the log, read up to its end, does not have it. */
  #flush(): void {
    if (this.#status !== 'live') return;
    if (this.#outgoing.isUncertain && this.#received.seq < this.#head) return;
    this.#outgoing.flush((text) => this.#link.send(text));
  }

  #pauseIfUnneeded(): void {
    if (!this.#queueEnd || this.#status !== 'live') return;
    if (this.#outgoing.isEmpty && this.#replies.isEmpty) this.#disconnect('paused');
  }

  #disconnect(status: 'connecting' | 'paused'): void {
    this.#link.close();
    this.#outgoing.interrupted();
    this.#become(status);
  }

  #lost(): void {
    this.#outgoing.lost();
    this.#become('connecting');
  }

  #end(error: unknown, endQueue: () => void): void {
    if (this.#status === 'closed') return;
    this.#link.close();
    endQueue();
    this.#outgoing.failAll(error);
    this.#replies.failAll(error);
    this.#become('closed');
  }

  #become(status: SessionStatus): void {
    if (status === this.#status) return;
    this.#status = status;
    this.#onStatus(status);
  }
}
