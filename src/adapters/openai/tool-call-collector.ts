import { randomUUID } from 'node:crypto';
import type { RawToolCall } from '../../ports/language-model.ts';
import type { ToolCallDelta } from './chat-chunk.ts';

interface PartialCall {
  readonly index: number | undefined;
  id: string;
  name: string;
  arguments: string;
}

/**
 * Puts tool calls together from their fragments. OpenAI numbers the fragments by `index`; others leave the
 * index out, or the id, or both, send a call whole, repeat its name in each fragment, or give parallel calls
 * the same index.
 */
export class ToolCallCollector {
  readonly #calls: PartialCall[] = [];

  get isEmpty(): boolean {
    return this.#calls.length === 0;
  }

  add(delta: ToolCallDelta): void {
    const { name, arguments: fragment } = delta.function ?? {};
    const call = this.#find(delta) ?? this.#begin(delta);
    call.id ||= delta.id ?? '';
    call.name ||= name ?? '';
    call.arguments += fragment ?? '';
  }

  /** A call that ends in the middle of its arguments, as when the model ran out of tokens. */
  hasIncomplete(): boolean {
    return this.#calls.some((call) => call.name === '' || !isJson(call.arguments));
  }

  hasNameless(): boolean {
    return this.#calls.some((call) => call.name === '');
  }

  /**
   * @param isTaken whether the conversation knows a call of this id already. Some servers count from
   * `call_0` in each reply, and two calls of one id cannot be told apart in the history.
   */
  finish(isTaken: (callId: string) => boolean): RawToolCall[] {
    const used = new Set<string>();
    return this.#calls.map((call) => {
      const keeps = call.id !== '' && !used.has(call.id) && !isTaken(call.id);
      const callId = keeps ? call.id : `call_${randomUUID().replaceAll('-', '')}`;
      used.add(callId);
      return { callId, name: call.name, arguments: call.arguments || '{}' };
    });
  }

  #find(delta: ToolCallDelta): PartialCall | undefined {
    const { id, index } = delta;
    const name = delta.function?.name;
    const candidate = this.#candidate(delta);
    const another = Boolean(candidate?.id && id && candidate.id !== id && name);
    const isNamedAnew = !id && typeof index !== 'number' && Boolean(name && candidate?.name);
    return another || isNamedAnew ? undefined : candidate;
  }

  #candidate({ id, index }: ToolCallDelta): PartialCall | undefined {
    if (typeof index === 'number') return this.#calls.findLast((call) => call.index === index);
    if (id) return this.#calls.find((call) => call.id === id);
    return this.#calls.at(-1);
  }

  #begin({ index }: ToolCallDelta): PartialCall {
    const call: PartialCall = { index: index ?? undefined, id: '', name: '', arguments: '' };
    this.#calls.push(call);
    return call;
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
