import { isJsonObject, type JsonObject } from '../../../core/json-object.ts';

/**
 * Collects, from all chunks, the fields of a message that its provider wants back: joins texts, appends lists, and
 * keeps a signature of a single chunk unchanged.
 */
export class ReturnedFields {
  readonly #fields = new Map<string, unknown>();

  add(fields: JsonObject): void {
    for (const [name, value] of Object.entries(fields)) {
      const wanted = name === 'extra_content' ? withoutThoughtFlag(value) : value;
      if (wanted !== undefined) this.#fields.set(name, joined(this.#fields.get(name), wanted));
    }
  }

  /** @param withReasoning whether to include the texts of the reasoning, or only its signatures. */
  collected(withReasoning: boolean): JsonObject | undefined {
    const kept = [...this.#fields].filter(
      ([name, value]) =>
        (withReasoning || !REASONING_TEXTS.has(name)) && (name !== SIGNED || isSigned(value)),
    );
    return kept.length === 0 ? undefined : Object.fromEntries(kept);
  }
}

const REASONING_TEXTS: ReadonlySet<string> = new Set(['reasoning_content', 'reasoning']);

/** LiteLLM's field for the thinking of Claude, which refuses thinking without a signature. */
const SIGNED = 'thinking_blocks';

function isSigned(blocks: unknown): boolean {
  return (
    Array.isArray(blocks) &&
    blocks.every((block) => isJsonObject(block) && (block.type !== 'thinking' || Boolean(block.signature)))
  );
}

/** Google flags reasoning with `thought`. Only the answer is sent back, for which the flag would be wrong. */
function withoutThoughtFlag(extra: unknown): unknown {
  if (!isJsonObject(extra) || !isJsonObject(extra.google)) return extra;
  const { thought, ...google } = extra.google;
  return Object.keys(google).length > 0 ? { ...extra, google } : undefined;
}

function joined(before: unknown, more: unknown): unknown {
  if (typeof before === 'string' && typeof more === 'string') return before + more;
  if (Array.isArray(before) && Array.isArray(more)) return more.reduce(withDetail, before);
  if (isJsonObject(before) && isJsonObject(more)) return { ...before, ...more };
  return more;
}

/**
 * OpenRouter streams one reasoning detail in several pieces of the same type and index. The pieces of LiteLLM have no
 * index: the signature of a block comes last.
 */
function withDetail(details: readonly unknown[], detail: unknown): unknown[] {
  const last = details.at(-1);
  if (
    !isJsonObject(last) ||
    !isJsonObject(detail) ||
    last.type !== detail.type ||
    last.index !== detail.index ||
    (last.index === undefined && last.signature)
  ) {
    return [...details, detail];
  }
  const field = STREAMED.find((name) => typeof last[name] === 'string' && typeof detail[name] === 'string');
  if (field === undefined && !('signature' in detail)) return [...details, detail];
  const text = field && { [field]: `${last[field]}${detail[field]}` };
  return [...details.slice(0, -1), { ...last, ...withoutNull(detail), ...text }];
}

const STREAMED = ['text', 'summary', 'thinking'] as const;

function withoutNull(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}
