import type { OpaqueData } from '../../../core/turn/reply-parts.ts';
import { isJson } from '../../../model-http/reply/json.ts';
import type { ReplyCallIds } from '../../../model-http/reply/reply-call-ids.ts';
import type { RawToolCall } from '../../../ports/language-model.ts';
import { type PartialCall, withoutRepeats } from './repeated-calls.ts';
import type { ToolCallDelta } from './tool-call-delta.ts';

interface IndexedCall extends PartialCall {
  index: number | undefined;
}

interface Chunk {
  /** The place of a fragment among those of its chunk, counted from the last, which is -1. */
  readonly place: number;
  /** How many calls had begun before the chunk. */
  readonly known: number;
}

/**
 * Assembles tool calls from their fragments. OpenAI numbers the fragments by `index`. Others leave out the index,
 * the id or both, send a call whole, repeat its name in each fragment, or give parallel calls the same index.
 */
export class ToolCallCollector {
  #calls: IndexedCall[] = [];

  get isEmpty(): boolean {
    return this.#calls.length === 0;
  }

  /** @param deltas the fragments of one chunk. */
  add(deltas: readonly ToolCallDelta[]): void {
    const known = this.#calls.length;
    for (const [position, delta] of deltas.entries())
      this.#addOne(delta, { place: position - deltas.length, known });
  }

  #addOne(delta: ToolCallDelta, chunk: Chunk): void {
    const call = this.#find(delta, chunk) ?? this.#begin(delta);
    call.id ||= delta.id;
    call.name ||= delta.name;
    call.arguments = extended(call.arguments, delta.arguments);
    call.extraContent ??= delta.extraContent;
  }

  /** No fragment follows. Call this before the other methods, because servers repeat calls at any time. */
  end(): void {
    this.#calls = withoutRepeats(this.#calls);
  }

  /** Whether a call ends in the middle of its arguments, as when the model ran out of tokens. */
  hasIncomplete(): boolean {
    return this.#calls.some((call) => call.name === '' || !isJson(call.arguments));
  }

  hasNameless(): boolean {
    return this.#calls.some((call) => call.name === '');
  }

  finish(ids: ReplyCallIds): RawToolCall[] {
    return this.#calls.map((call) => {
      const [id = ''] = call.id.split(SIGNATURE, 1);
      const opaque = returnedWith(call, id);
      return {
        callId: ids.take(id),
        name: plainName(call.name),
        arguments: call.arguments || '{}',
        ...(opaque && { opaque }),
      };
    });
  }

  #find(delta: ToolCallDelta, chunk: Chunk): IndexedCall | undefined {
    const candidate = this.#candidate(delta, chunk);
    return candidate && !beginsAnother(candidate, delta) ? candidate : undefined;
  }

  #candidate(delta: ToolCallDelta, { place, known }: Chunk): IndexedCall | undefined {
    const { id, index, name } = delta;
    if (index !== undefined)
      return this.#calls.findLast((call) => call.index === index) ?? this.#misnumbered(delta);
    if (id !== '') return this.#calls.find((call) => call.id === id);
    // Moonshot sends the arguments of parallel calls in one chunk. Only their order tells which call they belong to.
    if (name === '') return this.#calls.at(place);
    // Two names in one chunk are two calls.
    return this.#calls.length > known ? undefined : this.#calls.at(-1);
  }

  /**
   * The last call, if it has begun under the index of the call before it, and its arguments come under their own:
   * https://github.com/agno-agi/agno/pull/8880
   */
  #misnumbered({ id, index, name }: ToolCallDelta): IndexedCall | undefined {
    const last = this.#calls.at(-1);
    if (id !== '' || name !== '' || last === undefined || isJson(last.arguments)) return undefined;
    last.index = index;
    return last;
  }

  #begin({ index }: ToolCallDelta): IndexedCall {
    const call = { index, id: '', name: '', arguments: '', extraContent: undefined };
    this.#calls.push(call);
    return call;
  }
}

/** Some servers open a call with `{}`, as Bedrock does, and send its arguments behind that. */
const PLACEHOLDER = '{}';

function extended(known: string, fragment: string): string {
  const isReplaced = known === PLACEHOLDER && fragment.trimStart().startsWith('{');
  return isReplaced ? fragment : known + fragment;
}

/** Whether a fragment that seems to belong to a call begins the next call. Only a fragment with a name can. */
function beginsAnother(call: PartialCall, { id, name, arguments: fragment }: ToolCallDelta): boolean {
  if (name === '' || call.name === '') return false;
  if (id !== '' && call.id !== '' && id !== call.id) return true;
  // Without two different ids: a name after complete arguments, or another name before any arguments.
  if (call.arguments === '') return name !== call.name;
  if (call.arguments === PLACEHOLDER && id !== '' && id === call.id && name === call.name) return false;
  // Space after them is none: some models write it.
  return isJson(call.arguments) && (fragment.trim() !== '' || name !== call.name);
}

/**
 * LiteLLM puts the signature that Gemini wants back behind the id of a call. Such an id is too long for other providers, so
 * the whole of it goes back to its own model only. https://github.com/BerriAI/litellm/pull/16895
 */
const SIGNATURE = '__thought__';

/** @param shown the id under which the call is known. */
function returnedWith({ id, extraContent }: PartialCall, shown: string): OpaqueData | undefined {
  const opaque = {
    ...(extraContent !== undefined && { extra_content: extraContent }),
    ...(id !== shown && { id }),
  };
  return Object.keys(opaque).length === 0 ? undefined : opaque;
}

/** GPT-OSS models leak their internal format into the name: `functions.echo`, `echo<|channel|>json`. */
function plainName(name: string): string {
  return name.replace(/<\|.*$/s, '').replace(/^functions\./, '') || name;
}
