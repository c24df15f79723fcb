import { isJson, isObject, type JsonObject, stringIn } from '../../../model-http/reply/json.ts';
import type { ReplyCallIds } from '../../../model-http/reply/reply-call-ids.ts';
import type { RawToolCall } from '../../../ports/language-model.ts';

/** The tool calls of a response. A call is taken from its item when that is done: only then all of it is certain. */
export class CallItems {
  readonly #ids: ReplyCallIds;
  /** Begun and not done, by their places in the output. */
  readonly #open = new Map<number, JsonObject>();
  #isCut = false;
  #isBroken = false;

  constructor(ids: ReplyCallIds) {
    this.#ids = ids;
  }

  /** Whether a call was begun and not ended. */
  get hasOpen(): boolean {
    return this.#isCut || this.#open.size > 0;
  }

  /** Whether the arguments of a call are no JSON: it was cut, or the model cannot write them. */
  get hasBroken(): boolean {
    return this.#isBroken;
  }

  begin(place: number, item: JsonObject): void {
    this.#open.set(place, item);
  }

  allArguments(place: number, all: unknown): void {
    const call = this.#open.get(place);
    if (call) this.#open.set(place, { ...call, arguments: all });
  }

  /** Those whose arguments have come and whose end has not. */
  ripe(): [place: number, item: JsonObject][] {
    return [...this.#open].filter(([, call]) => stringIn(call.arguments) !== '');
  }

  isKnown({ call_id }: JsonObject): boolean {
    return typeof call_id === 'string' && this.#ids.has(call_id);
  }

  /** The call of an item that is done; undefined when the response ended in the middle of it. */
  end(place: number, item: JsonObject): RawToolCall | undefined {
    for (const [open, { call_id }] of this.#open) {
      if (open === place || (call_id !== undefined && call_id === item.call_id)) this.#open.delete(open);
    }
    if (item.status === 'incomplete') {
      this.#isCut = true;
      return undefined;
    }
    const args = argumentsIn(item);
    this.#isBroken ||= !isJson(args);
    return {
      callId: this.#ids.take(stringIn(item.call_id) || stringIn(item.id)),
      name: stringIn(item.name),
      arguments: args,
    };
  }
}

function argumentsIn({ arguments: given }: JsonObject): string {
  return (isObject(given) ? JSON.stringify(given) : stringIn(given)) || '{}';
}
