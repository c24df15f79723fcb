import type { ErrorBody } from '../core/errors.ts';
import { RefusedError } from './session-errors.ts';

/**
 * The service has recorded a message as a turn. `end` is present when the same message was sent before and its turn has
 * ended.
 */
export interface Accepted {
  readonly clientMessageId: string;
  readonly turnId: string;
  readonly end?: { readonly content?: string | undefined; readonly error?: ErrorBody | undefined };
}

export interface OutgoingMessage {
  readonly clientMessageId: string;
  readonly text: string;
  readonly onAccepted: (accepted: Accepted) => void;
  readonly onRefused: (error: unknown) => void;
}

interface Item {
  readonly text: string;
  /** Null for a command: the service does not acknowledge it. */
  readonly message: OutgoingMessage | null;
  /** Over the current connection, over an earlier one, or not yet. */
  sent: 'now' | 'before' | null;
  /** Connections that broke before the service answered. */
  losses: number;
}

/** A message is given up after this many losses: probably the message itself breaks the connections. */
const MAX_LOSSES = 5;

/** The outgoing messages and commands, in order. A message stays here until the service accepts or refuses it. */
export class Outgoing {
  #items: Item[] = [];

  get isEmpty(): boolean {
    return this.#items.length === 0;
  }

  /** Whether a message was sent over an earlier connection and may have arrived. */
  get isUncertain(): boolean {
    return this.#items.some(({ sent }) => sent === 'before');
  }

  command(text: string): void {
    this.#items.push({ text, message: null, sent: null, losses: 0 });
  }

  message(message: OutgoingMessage): void {
    const { clientMessageId, text } = message;
    if (this.#find(clientMessageId)) throw new Error(`message ${clientMessageId} is already being sent`);
    this.#items.push({ text, message, sent: null, losses: 0 });
  }

  /** Sends what was not yet sent over the current connection. A command is forgotten once it is sent. */
  flush(send: (text: string) => void): void {
    for (const item of this.#items) {
      if (item.sent === 'now') continue;
      send(item.text);
      item.sent = 'now';
    }
    this.#items = this.#items.filter(({ message }) => message !== null);
  }

  /** The client closed the connection itself, so no message is to blame. */
  connectionClosed(): void {
    for (const item of this.#items) if (item.sent === 'now') item.sent = 'before';
  }

  /** The connection broke. Rejects the messages that have reached the limit of losses. */
  connectionLost(): void {
    for (const item of this.#items) {
      if (item.sent !== 'now') continue;
      item.sent = 'before';
      item.losses += 1;
      if (item.losses < MAX_LOSSES || !item.message) continue;
      this.#remove(item);
      const reason = `the connection broke ${item.losses} times before the service had answered the message`;
      item.message.onRefused(new Error(reason));
    }
  }

  accept(accepted: Accepted): void {
    this.#take(accepted.clientMessageId)?.onAccepted(accepted);
  }

  refuse(clientMessageId: string, error: ErrorBody): void {
    this.#take(clientMessageId)?.onRefused(new RefusedError(error));
  }

  failAll(error: unknown): void {
    for (const { message } of this.#items.splice(0)) message?.onRefused(error);
  }

  #find(clientMessageId: string): Item | undefined {
    return this.#items.find(({ message }) => message?.clientMessageId === clientMessageId);
  }

  #take(clientMessageId: string): OutgoingMessage | null {
    const item = this.#find(clientMessageId);
    if (!item) return null;
    this.#remove(item);
    return item.message;
  }

  #remove(item: Item): void {
    this.#items = this.#items.filter((other) => other !== item);
  }
}
