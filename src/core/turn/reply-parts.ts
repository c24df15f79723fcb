import { z } from 'zod';
import { CallId } from '../ids.ts';

/** A provider's own fields, as JSON. They mean something to that provider alone and go back to it verbatim. */
export const OpaqueData = z.record(z.string(), z.unknown());
export type OpaqueData = z.infer<typeof OpaqueData>;

/**
 * Which model has spoken. `api` is the interface it spoke over (`chat`, `responses`, `messages`), because opaque data
 * of one interface mean nothing to another.
 */
export const ModelSource = z.object({ api: z.string(), provider: z.string(), model: z.string() });
export type ModelSource = z.infer<typeof ModelSource>;

/** Said to the user. */
const TextPart = z.object({ type: z.literal('text'), text: z.string(), opaque: OpaqueData.optional() });
/** Said to the user, too: why the model does not do what it was asked for. */
const RefusalPart = z.object({ type: z.literal('refusal'), text: z.string() });
/** Thought aloud. Never sent back to a model: what a provider wants back is an opaque part. */
const ReasoningPart = z.object({ type: z.literal('reasoning'), text: z.string() });
const OpaquePart = z.object({ type: z.literal('opaque'), data: OpaqueData });

export type TextPart = z.infer<typeof TextPart>;
export type RefusalPart = z.infer<typeof RefusalPart>;
export type ReasoningPart = z.infer<typeof ReasoningPart>;
export type OpaquePart = z.infer<typeof OpaquePart>;

/** All that a reply has besides tool calls. */
export const spokenParts = [TextPart, RefusalPart, ReasoningPart, OpaquePart] as const;
export type SpokenPart = TextPart | RefusalPart | ReasoningPart | OpaquePart;

/** One part of what the model answered in a step, in its place. A tool call is told by an event of its own. */
export const StepPart = z.discriminatedUnion('type', [
  ...spokenParts,
  z.object({ type: z.literal('toolCall'), callId: CallId, opaque: OpaqueData.optional() }),
]);
export type StepPart = z.infer<typeof StepPart>;

/** Why a reply ended early: `length` when a token limit cut it. */
export const FinishReason = z.enum(['length']);
export type FinishReason = z.infer<typeof FinishReason>;

/**
 * Tokens of one model call. `inputTokens` includes `cachedTokens`, those that the provider had in a cache;
 * `outputTokens` includes `reasoningTokens`. A count that the provider does not tell is left out.
 */
export const TokenUsage = z.object({
  inputTokens: z.int(),
  outputTokens: z.int(),
  cachedTokens: z.int().optional(),
  reasoningTokens: z.int().optional(),
});
export type TokenUsage = z.infer<typeof TokenUsage>;
