import { isJsonObject, type JsonObject } from '../../../core/json-object.ts';
import { isJson, stringIn } from '../../../model-http/reply/json.ts';
import type { ReplyCallIds } from '../../../model-http/reply/reply-call-ids.ts';
import type { RawToolCall } from '../../../ports/language-model.ts';

/** The tool calls of a response. A call is taken when its item is done, because only then it is complete. */
export class CallItems {
  readonly #ids: ReplyCallIds;
  /** Calls that have begun and not ended, by their places in the output. */
  readonly #open = new Map<number, JsonObject>();
  #isCut = false;
  #isBroken = false;
  #isNameless = false;

  constructor(ids: ReplyCallIds) {
    this.#ids = ids;
  }

  /** Whether a call has begun and not ended. */
  get hasOpen(): boolean {
    return this.#isCut || this.#open.size > 0;
  }

  /** Whether a call has no name, or its arguments are not JSON: it was cut off, or the model wrote broken JSON. */
  get hasBroken(): boolean {
    return this.#isBroken;
  }

  get hasNameless(): boolean {
    return this.#isNameless;
  }

  begin(place: number, item: JsonObject): void {
    this.#open.set(place, item);
  }

  setArguments(place: number, all: unknown): void {
    const call = this.#open.get(place);
    if (call) this.#open.set(place, { ...call, arguments: all });
  }

  /** The calls that have not ended although their arguments have come. */
  openWithArguments(): [place: number, item: JsonObject][] {
    return [...this.#open].filter(([, call]) => stringIn(call.arguments) !== '');
  }

  isKnown({ call_id }: JsonObject): boolean {
    return typeof call_id === 'string' && this.#ids.has(call_id);
  }

  /** The call of an item that is done; undefined if the response ended in the middle of the call. */
  end(place: number, item: JsonObject): RawToolCall | undefined {
    for (const [open, { call_id }] of this.#open) {
      if (open === place || (call_id !== undefined && call_id === item.call_id)) this.#open.delete(open);
    }
    if (item.status === 'incomplete') {
      this.#isCut = true;
      return undefined;
    }
    const args = argumentsIn(item);
    const name = stringIn(item.name);
    this.#isNameless ||= name === '';
    this.#isBroken ||= name === '' || !isJson(args);
    return {
      callId: this.#ids.take(stringIn(item.call_id) || stringIn(item.id)),
      name,
      arguments: args,
    };
  }
}

function argumentsIn({ arguments: given }: JsonObject): string {
  return (isJsonObject(given) ? JSON.stringify(given) : stringIn(given)) || '{}';
}
