import type { ResumableFrame } from '../wire/frames.ts';
import type { Admission } from './admission.ts';
import type { ClientEnvironment } from './client-environment.ts';
import { Outgoing, type OutgoingCommand, type OutgoingMessage, type UnsentMessage } from './outgoing.ts';
import { isUnnamedError, type StreamFrame } from './read-frame.ts';
import { ProtocolError, SessionLostError } from './session-errors.ts';
import type { ConnectOptions, SessionStatus } from './session-options.ts';
import { StreamLink, type StreamLinkDeps } from './stream-link.ts';
import { advance, type StreamEvent, type StreamPosition } from './stream-position.ts';
import { type StreamTarget, streamUrl } from './stream-url.ts';

export interface SessionStreamDeps {
  readonly environment: ClientEnvironment;
  /** Null for a client without a token. */
  readonly admission: Admission | null;
  readonly target: StreamTarget;
  /** Where the stream begins. */
  readonly position: StreamPosition;
  /** Each event once, with the positions of a reader after it and before it. */
  readonly onEvent: (event: StreamEvent, after: StreamPosition, before: StreamPosition) => void;
  /** Whether anybody waits for events. If not, the stream pauses once all messages are answered. */
  readonly isNeeded: () => boolean;
  readonly onStatus: (status: SessionStatus) => void;
  /** The list of messages that were never sent has changed. */
  readonly onUnsent: (unsent: readonly UnsentMessage[]) => void;
  readonly onRetry: StreamLinkDeps['onRetry'];
  readonly onMachines: NonNullable<ConnectOptions['onMachines']>;
  /** The stream cannot continue. */
  readonly onError: (error: unknown) => void;
}

interface Rewind {
  readonly position: StreamPosition;
  /** The next event is the one after the position. */
  readonly onBegin: () => void;
}

type AcceptedData = Extract<ResumableFrame, { event: 'accepted' }>['data'];

/**
 * The resumable stream of a session: receives every event once over connections that come and go, and sends messages
 * until the service has accepted or refused them.
 */
export class SessionStream {
  readonly #deps: SessionStreamDeps;
  readonly #link: StreamLink;
  readonly #outgoing = new Outgoing();
  #status: SessionStatus = 'connecting';
  /** Up to where events were received. */
  #position: StreamPosition;
  /** Seq of the session's last event when the connection was made. */
  #head = 0;
  #unsent: readonly UnsentMessage[] = [];
  /** Wanted, and waits for the answers to commands. */
  #rewind: Rewind | null = null;

  constructor(deps: SessionStreamDeps) {
    this.#deps = deps;
    this.#position = deps.position;
    this.#link = new StreamLink({
      environment: deps.environment,
      admission: deps.admission,
      url: () => streamUrl(deps.target, this.#position),
      onFrame: (frame) => this.#receive(frame),
      onLost: () => this.#lost(),
      onRetry: deps.onRetry,
      onError: deps.onError,
    });
  }

  get status(): SessionStatus {
    return this.#status;
  }

  /** The messages that were never sent. The same list until it changes. */
  get unsent(): readonly UnsentMessage[] {
    return this.#unsent;
  }

  open(): void {
    if (this.#status !== 'closed') this.#link.open();
  }

  /**
   * Receives the events after the position again, over a new connection. Commands that were sent are answered first, because
   * they are not sent again.
   */
  rewind(to: Rewind): void {
    this.#rewind = to;
    this.#rewindIfAnswered();
  }

  /** Sends the message now or as soon as there is a connection, and again until the service has answered it. */
  sendMessage(message: OutgoingMessage): void {
    this.#outgoing.message(message);
    this.#transmit();
  }

  /** Sends the command once: now, or as soon as there is a connection. */
  sendCommand(command: OutgoingCommand): void {
    this.#outgoing.command(command);
    this.#transmit();
  }

  /** Takes back a message that was never sent. @returns false when it was sent, or does not exist. */
  withdraw(clientMessageId: string): boolean {
    const isWithdrawn = this.#outgoing.withdraw(clientMessageId);
    this.#tellUnsent();
    return isWithdrawn;
  }

  /** Nobody waits for the answer any longer. */
  forget(outgoing: OutgoingMessage | OutgoingCommand): void {
    this.#outgoing.forget(outgoing);
    this.#rewindIfAnswered();
    this.#tellUnsent();
  }

  /** Closes the connection for good, and rejects the unanswered messages with the error. */
  close(error: unknown): void {
    this.#link.close();
    this.#outgoing.failAll(error);
    this.#tellUnsent();
    this.#become('closed');
  }

  #receive(frame: StreamFrame): void {
    if (frame.event === 'resumed') this.#resumed(frame.data);
    else if (frame.event === 'accepted') this.#accepted(frame.data, frame.turnId);
    else if (frame.event === 'machines') this.#deps.onMachines(frame.data.machines, true);
    else if (frame.event === 'machine') this.#deps.onMachines([frame.data], false);
    else if (frame.event === 'done') this.#outgoing.commandDone(frame.data.commandId);
    else if (frame.event === 'error' && frame.clientMessageId !== undefined)
      this.#outgoing.refuse(frame.clientMessageId, frame.data);
    else this.#take(frame);
    this.#rewindIfAnswered();
    this.#pauseIfUnneeded();
  }

  #resumed({ after, head }: { after: number; head: number }): void {
    if (after !== this.#position.seq) throw new ProtocolError(`the service resumed after event ${after}`);
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

  #take(frame: StreamEvent): void {
    const before = this.#position;
    const { position, frame: event } = advance(before, frame);
    this.#position = position;
    if (!event) return;
    this.#acceptOwnMessage(event);
    if (event.event === 'error' && event.commandId !== undefined)
      this.#outgoing.refuseCommand(event.commandId, event.data);
    else if (isUnnamedError(event)) this.#outgoing.refuseUnnamed(event.data);
    this.#deps.onEvent(event, position, before);
    if (event.seq !== undefined && event.seq === this.#head) this.#flush();
  }

  #acceptOwnMessage({ event, data, turnId }: StreamEvent): void {
    if (event !== 'message' || turnId === undefined || data.clientMessageId === undefined) return;
    this.#outgoing.acceptSame({ clientMessageId: data.clientMessageId, turnId }, data.content);
  }

  #transmit(): void {
    if (this.#status === 'paused') {
      this.#become('connecting');
      this.#link.open();
    }
    this.#flush();
    this.#tellUnsent();
  }

  /** A message that may have arrived is sent again only after the log was read to its end and does not have it. */
  #flush(): void {
    if (this.#status !== 'live') return;
    if (this.#outgoing.isUncertain && this.#position.seq < this.#head) return;
    this.#outgoing.flush((text) => this.#link.send(text));
    this.#tellUnsent();
  }

  #tellUnsent(): void {
    const { unsent } = this.#outgoing;
    const isSame =
      unsent.length === this.#unsent.length &&
      unsent.every(({ clientMessageId }, index) => clientMessageId === this.#unsent[index]?.clientMessageId);
    if (isSame) return;
    this.#unsent = unsent;
    this.#deps.onUnsent(unsent);
  }

  #pauseIfUnneeded(): void {
    if (this.#status !== 'live' || this.#deps.isNeeded() || !this.#outgoing.isEmpty) return;
    this.#disconnect('paused');
  }

  #rewindIfAnswered(): void {
    if (!this.#rewind || this.#status === 'closed' || this.#outgoing.awaitsCommand) return;
    this.#disconnect('connecting');
    this.#beginRewind();
    this.#link.open();
  }

  #beginRewind(): void {
    const { position, onBegin } = this.#rewind ?? {};
    this.#rewind = null;
    if (position) this.#position = position;
    onBegin?.();
  }

  #disconnect(status: 'connecting' | 'paused'): void {
    this.#link.close();
    this.#outgoing.connectionClosed();
    this.#become(status);
  }

  #lost(): void {
    this.#outgoing.connectionLost();
    this.#beginRewind();
    this.#become('connecting');
  }

  #become(status: SessionStatus): void {
    if (status === this.#status) return;
    this.#status = status;
    this.#deps.onStatus(status);
  }
}
