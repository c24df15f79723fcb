import { isJsonObject, type JsonObject } from '../../../core/json-object.ts';
import type { TokenUsage } from '../../../core/turn/reply-parts.ts';
import { countIn, objectIn, parsedJson } from '../../../model-http/reply/json.ts';

export type ParsedData =
  | { readonly kind: 'object'; readonly value: JsonObject }
  /** `[DONE]`, the end mark of other interfaces, which some gateways send here too. */
  | { readonly kind: 'done' }
  /** Keep-alives and other values that are not objects. */
  | { readonly kind: 'other' }
  /** Begins like JSON but is not JSON: text may be lost. */
  | { readonly kind: 'broken' };

/** The type of an event that adds text. */
export const TEXT_DELTA = 'response.output_text.delta';

const OTHER: ParsedData = { kind: 'other' };

export function parsedData(data: string): ParsedData {
  const value = parsedJson(data);
  if (value !== undefined) return isJsonObject(value) ? { kind: 'object', value } : OTHER;
  if (data.trim() === '[DONE]') return { kind: 'done' };
  return /^\s*[{[]/.test(data) ? { kind: 'broken' } : OTHER;
}

/** Undefined if the server sends none. */
export function outputIndexOf({ output_index }: JsonObject): number | undefined {
  return typeof output_index === 'number' ? output_index : undefined;
}

export function objectsIn(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** `input_tokens` includes the cached ones, `output_tokens` those of the reasoning. */
export function usageIn(usage: unknown): TokenUsage | undefined {
  const { input_tokens, output_tokens, input_tokens_details, output_tokens_details } = objectIn(usage);
  const inputTokens = countIn(input_tokens);
  const outputTokens = countIn(output_tokens);
  // Counts of an unexpected shape must not fail the reply.
  if (inputTokens === undefined || outputTokens === undefined) return undefined;
  const cachedTokens = countIn(objectIn(input_tokens_details).cached_tokens);
  const reasoningTokens = countIn(objectIn(output_tokens_details).reasoning_tokens);
  return {
    inputTokens,
    outputTokens,
    ...(cachedTokens !== undefined && { cachedTokens }),
    ...(reasoningTokens !== undefined && { reasoningTokens }),
  };
}
