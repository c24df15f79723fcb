import { randomUUID } from 'node:crypto';
import type { ModelMessage } from '../../core/conversation/model-message.ts';

/**
 * The ids of the tool calls of one reply, unique within the conversation. Some servers count from `call_0` in each
 * reply.
 */
export class ReplyCallIds {
  readonly #messages: readonly ModelMessage[];
  readonly #prefix: string;
  readonly #known = new Set<string>();

  /** @param messages the conversation that the reply belongs to. @param prefix of new ids. */
  constructor(messages: readonly ModelMessage[], prefix: string) {
    this.#messages = messages;
    this.#prefix = prefix;
  }

  /** Whether a call of this reply came with the id or got it here. */
  has(id: string): boolean {
    return this.#known.has(id);
  }

  /** @param given the provider's id, or an empty string. @returns that id if it is free, otherwise a new one. */
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
