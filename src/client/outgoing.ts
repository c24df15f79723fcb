import type { ErrorBody } from '../core/errors.ts';
import { RefusedError, UnansweredError, WithdrawnError } from './session-errors.ts';

/**
 * The service has recorded a message as a turn. `end` is present when the same message was sent before and its turn has
 * ended.
 */
export interface Accepted {
  readonly clientMessageId: string;
  readonly turnId: string;
  readonly end?: { readonly content?: string | undefined; readonly error?: ErrorBody | undefined };
}

/** A message that the client has not sent yet. It can be withdrawn. */
export interface UnsentMessage {
  readonly clientMessageId: string;
  readonly content: string;
}

export interface OutgoingMessage extends UnsentMessage {
  readonly text: string;
  readonly onAccepted: (accepted: Accepted) => void;
  readonly onRefused: (error: unknown) => void;
}

export interface OutgoingCommand {
  readonly commandId: string;
  readonly text: string;
  readonly onDone: () => void;
  readonly onRefused: (error: unknown) => void;
}

/**
 * Throws a TypeError for an id that the service cannot read: its refusal could not say to which message it belongs, so the
 * message would wait for ever.
 */
export function requireMessageId(clientMessageId: string): void {
  if (!/^[\x21-\x7e]{1,255}$/.test(clientMessageId))
    throw new TypeError('the clientMessageId must be 1 to 255 visible ASCII characters');
}

interface MessageItem {
  readonly message: OutgoingMessage;
  /** Over the current connection, over an earlier one, or not yet. */
  sent: 'now' | 'before' | null;
  /** Connections that broke before the service answered. */
  losses: number;
}

interface CommandItem {
  readonly command: OutgoingCommand;
  sent: 'now' | null;
}

type Item = MessageItem | CommandItem;

/** A message is given up after this many losses: probably the message itself breaks the connections. */
const MAX_LOSSES = 5;

/** What the service calls a frame that it cannot read. Other errors without an id are about the connection. */
const UNREADABLE: ReadonlySet<ErrorBody['code']> = new Set([
  'INVALID_REQUEST',
  'INVALID_MESSAGE_TYPE',
  'RATE_LIMIT_EXCEEDED',
]);

/**
 * The outgoing messages and commands, in order. Each stays here until the service answers it. A message is sent again
 * over the next connection, a command is not: the caller learns that its fate is unknown.
 */
export class Outgoing {
  #items: Item[] = [];

  get isEmpty(): boolean {
    return this.#items.length === 0;
  }

  /** Whether a message was sent over an earlier connection and may have arrived. */
  get isUncertain(): boolean {
    return this.#items.some(({ sent }) => sent === 'before');
  }

  /** Whether a command was sent and is not answered. */
  get awaitsCommand(): boolean {
    return this.#items.some((item) => 'command' in item && item.sent === 'now');
  }

  /** The messages that were never sent, in order. */
  get unsent(): UnsentMessage[] {
    return this.#items.flatMap((item) => {
      if (!('message' in item) || item.sent !== null) return [];
      const { clientMessageId, content } = item.message;
      return [{ clientMessageId, content }];
    });
  }

  command(command: OutgoingCommand): void {
    this.#items.push({ command, sent: null });
  }

  message(message: OutgoingMessage): void {
    const { clientMessageId } = message;
    if (this.#message(clientMessageId)) throw new Error(`message ${clientMessageId} is already being sent`);
    this.#items.push({ message, sent: null, losses: 0 });
  }

  /** Sends what was not yet sent over the current connection. */
  flush(send: (text: string) => void): void {
    for (const item of this.#items) {
      if (item.sent === 'now') continue;
      send('message' in item ? item.message.text : item.command.text);
      item.sent = 'now';
    }
  }

  /** The client closed the connection itself, so no message is to blame. */
  connectionClosed(): void {
    this.#disconnected(0);
  }

  /** The connection broke. Rejects the messages that have reached the limit of losses. */
  connectionLost(): void {
    this.#disconnected(1);
  }

  accept(accepted: Accepted): void {
    const item = this.#message(accepted.clientMessageId);
    if (!item) return;
    this.#remove(item);
    item.message.onAccepted(accepted);
  }

  /** Accepts the message if it has this content. The service refuses one that has not. */
  acceptSame(accepted: Accepted, content: string): void {
    if (this.#message(accepted.clientMessageId)?.message.content === content) this.accept(accepted);
  }

  refuse(clientMessageId: string, error: ErrorBody): void {
    const item = this.#message(clientMessageId);
    if (item) this.#reject(item, new RefusedError(error));
  }

  commandDone(commandId: string): void {
    const item = this.#command(commandId);
    if (!item) return;
    this.#remove(item);
    item.command.onDone();
  }

  refuseCommand(commandId: string, error: ErrorBody): void {
    const item = this.#command(commandId);
    if (item) this.#reject(item, new RefusedError(error));
  }

  /**
   * The service could not read the id of what it refuses, because the JSON is too long and too deep. It belongs to what waits
   * for an answer, if that is one thing alone.
   */
  refuseUnnamed(error: ErrorBody): void {
    if (!UNREADABLE.has(error.code)) return;
    const [item, ...others] = this.#items.filter(({ sent }) => sent === 'now');
    if (item && others.length === 0) this.#reject(item, new RefusedError(error));
  }

  /** Takes back a message that was never sent. @returns false when there is no such message. */
  withdraw(clientMessageId: string): boolean {
    const item = this.#message(clientMessageId);
    if (!item || item.sent !== null) return false;
    this.#reject(item, new WithdrawnError());
    return true;
  }

  /** Nobody waits for the answer any longer. If the message or the command was not sent, it never is. */
  forget(outgoing: OutgoingMessage | OutgoingCommand): void {
    this.#items = this.#items.filter(
      (item) => ('message' in item ? item.message : item.command) !== outgoing,
    );
  }

  failAll(error: unknown): void {
    for (const item of this.#items.splice(0)) this.#reject(item, error);
  }

  #disconnected(losses: 0 | 1): void {
    for (const item of [...this.#items]) {
      if (item.sent !== 'now') continue;
      if ('command' in item) {
        const reason = 'the connection broke before the service had answered the command';
        this.#reject(item, new UnansweredError(reason));
        continue;
      }
      item.sent = 'before';
      item.losses += losses;
      if (item.losses < MAX_LOSSES) continue;
      const reason = `the connection broke ${item.losses} times before the service had answered the message`;
      this.#reject(item, new UnansweredError(reason));
    }
  }

  #message(clientMessageId: string): MessageItem | undefined {
    return this.#items.find(
      (item): item is MessageItem => 'message' in item && item.message.clientMessageId === clientMessageId,
    );
  }

  #command(commandId: string): CommandItem | undefined {
    return this.#items.find(
      (item): item is CommandItem => 'command' in item && item.command.commandId === commandId,
    );
  }

  #reject(item: Item, error: unknown): void {
    this.#remove(item);
    if ('message' in item) item.message.onRefused(error);
    else item.command.onRefused(error);
  }

  #remove(item: Item): void {
    this.#items = this.#items.filter((other) => other !== item);
  }
}
