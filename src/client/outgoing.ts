import type { ErrorBody } from '../core/errors.ts';
import { RefusedError } from './session-errors.ts';

/** A message that is in the log, as that turn. `end` when it had been there before, and its turn is over. */
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
  /** Null for a command, which nobody acknowledges. */
  readonly message: OutgoingMessage | null;
  /** Over this connection, or over one that is gone. */
  sent: 'now' | 'before' | null;
  losses: number;
}

/** A message that was lost so often with its connection is what the connections break at. */
const MAX_LOSSES = 5;

/** What is to be sent, in its order; a message stays until the service has answered it. */
export class Outgoing {
  #items: Item[] = [];

  get isEmpty(): boolean {
    return this.#items.length === 0;
  }

  /** Whether something was sent before of which nobody knows if it has arrived. */
  get isUncertain(): boolean {
    return this.#items.some(({ sent }) => sent === 'before');
  }

  command(text: string): void {
    this.#items.push({ text, message: null, sent: null, losses: 0 });
  }

  message(message: OutgoingMessage): void {
    const { clientMessageId, text } = message;
    if (this.#find(clientMessageId)) throw new Error(`message ${clientMessageId} is being sent already`);
    this.#items.push({ text, message, sent: null, losses: 0 });
  }

  /** Sends what was not sent over this connection. */
  flush(send: (text: string) => void): void {
    for (const item of this.#items) {
      if (item.sent === 'now') continue;
      send(item.text);
      item.sent = 'now';
    }
    this.#items = this.#items.filter(({ message }) => message !== null);
  }

  /** The client has left the connection: what was not answered is to be sent again. */
  interrupted(): void {
    for (const item of this.#items) if (item.sent === 'now') item.sent = 'before';
  }

  /** The connection broke. */
  lost(): void {
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
