import { randomUUID } from 'node:crypto';
import type { ModelMessage } from '../../core/conversation/model-message.ts';

/**
 * The ids of the tool calls of one reply. Two calls of one id cannot be told apart in the history, and some servers count
 * from `call_0` in each reply.
 */
export class ReplyCallIds {
  readonly #messages: readonly ModelMessage[];
  readonly #prefix: string;
  readonly #known = new Set<string>();

  /** @param messages the conversation that the reply belongs to. @param prefix of the ids that are made here. */
  constructor(messages: readonly ModelMessage[], prefix: string) {
    this.#messages = messages;
    this.#prefix = prefix;
  }

  /** Whether a call of this reply came with the id, or was given it. */
  has(id: string): boolean {
    return this.#known.has(id);
  }

  /** @param given by the provider, or empty. @returns that id where it is free, else a new one. */
  take(given: string): string {
    const isFree = given !== '' && !this.#known.has(given) && !this.#isAnswered(given);
    const callId = isFree ? given : `${this.#prefix}${randomUUID().replaceAll('-', '')}`;
    this.#known.add(given).add(callId);
    return callId;
  }

  #isAnswered(callId: string): boolean {
    return this.#messages.some((message) => message.role === 'tool' && message.callId === callId);
  }
}
