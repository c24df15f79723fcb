import { z } from 'zod';
import { CallId } from '../ids.ts';

/** JSON that only its provider understands, such as a signature. It goes back to that provider unchanged. */
export const OpaqueData = z.record(z.string(), z.unknown());
export type OpaqueData = z.infer<typeof OpaqueData>;

/**
 * The model that made a reply. `api` is the interface of the provider (`chat`, `responses`, `messages`), because one
 * interface does not understand the opaque data of another.
 */
export const ModelSource = z.object({ api: z.string(), provider: z.string(), model: z.string() });
export type ModelSource = z.infer<typeof ModelSource>;

/** Text for the user. */
const TextPart = z.object({ type: z.literal('text'), text: z.string(), opaque: OpaqueData.optional() });
/** Text for the user, in which the model refuses what it was asked for. */
const RefusalPart = z.object({ type: z.literal('refusal'), text: z.string() });
/** Reasoning, for people. It is never sent back to a model: reasoning that a provider wants back is an opaque part. */
const ReasoningPart = z.object({ type: z.literal('reasoning'), text: z.string() });
const OpaquePart = z.object({ type: z.literal('opaque'), data: OpaqueData });

export type TextPart = z.infer<typeof TextPart>;
export type RefusalPart = z.infer<typeof RefusalPart>;
export type ReasoningPart = z.infer<typeof ReasoningPart>;
export type OpaquePart = z.infer<typeof OpaquePart>;

/** All kinds of parts but tool calls. */
export const spokenParts = [TextPart, RefusalPart, ReasoningPart, OpaquePart] as const;
export type SpokenPart = TextPart | RefusalPart | ReasoningPart | OpaquePart;

/** One part of the model's reply in a step. A tool call has its name and arguments in `tool-call.requested`. */
export const StepPart = z.discriminatedUnion('type', [
  ...spokenParts,
  z.object({ type: z.literal('toolCall'), callId: CallId, opaque: OpaqueData.optional() }),
]);
export type StepPart = z.infer<typeof StepPart>;

/** Why a reply ended early: `length` if a token limit cut it off. */
export const FinishReason = z.enum(['length']);
export type FinishReason = z.infer<typeof FinishReason>;

/**
 * Tokens of one model call. `inputTokens` includes `cachedTokens`, which the provider had in a cache. `outputTokens`
 * includes `reasoningTokens`. Counts that the provider does not report are absent.
 */
export const TokenUsage = z.object({
  inputTokens: z.int(),
  outputTokens: z.int(),
  cachedTokens: z.int().optional(),
  reasoningTokens: z.int().optional(),
});
export type TokenUsage = z.infer<typeof TokenUsage>;
