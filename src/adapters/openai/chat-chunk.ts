import { z } from 'zod';

/** Providers write `null`, leave out, or send the empty string for what is not there. */
const optionalText = z.string().nullish();

export const ToolCallDelta = z.object({
  index: z.int().min(0).nullish(),
  id: optionalText,
  function: z.object({ name: optionalText, arguments: optionalText }).nullish(),
});
export type ToolCallDelta = z.infer<typeof ToolCallDelta>;

/** Mistral's reasoning models send a list, of which only the parts of type `text` are the reply. */
const ContentPart = z.object({ type: z.string(), text: z.unknown().optional() });

const Choice = z.object({
  delta: z
    .object({
      content: z.union([z.string(), z.array(ContentPart)]).nullish(),
      refusal: optionalText,
      tool_calls: z.array(ToolCallDelta).nullish(),
    })
    .nullish(),
  finish_reason: optionalText,
});
export type ChoiceDelta = NonNullable<z.infer<typeof Choice>['delta']>;

/** One event of the stream. The last one often has no choice in it but the usage. */
export const ChatChunk = z
  .object({
    choices: z.array(Choice).nullish(),
    // A count of an unexpected shape is no reason to lose the reply.
    usage: z.object({ prompt_tokens: z.int(), completion_tokens: z.int() }).nullish().catch(undefined),
  })
  .refine((chunk) => chunk.choices || chunk.usage, 'has neither choices nor usage');
export type ChatChunk = z.infer<typeof ChatChunk>;

/** An error sent inside a stream that began with status 200; vLLM's older form has no `error` around it. */
const InBandError = z.union([
  z.object({ error: z.union([z.string(), z.looseObject({})]) }).transform(({ error }) => error),
  z.looseObject({ object: z.literal('error') }),
]);

export type ParsedEvent =
  | { kind: 'text'; text: string }
  | { kind: 'chunk'; chunk: ChatChunk }
  | { kind: 'error'; error: unknown }
  | { kind: 'malformed' };

/** The good case comes first: this runs once for each piece of text. */
export function parseEvent(data: string): ParsedEvent {
  const value = parseJson(data);
  const text = plainText(value);
  if (text !== undefined) return { kind: 'text', text };
  const hasError = typeof value === 'object' && value !== null && 'error' in value && Boolean(value.error);
  if (!hasError) {
    const chunk = ChatChunk.safeParse(value);
    if (chunk.success) return { kind: 'chunk', chunk: chunk.data };
  }
  const inBand = InBandError.safeParse(value);
  return inBand.success ? { kind: 'error', error: inBand.data } : { kind: 'malformed' };
}

/** The text of a delta; reasoning is not part of the reply. */
export function textOf({ content, refusal }: ChoiceDelta): string {
  if (typeof content === 'string') return content === '' ? (refusal ?? '') : content;
  if (!content) return refusal ?? '';
  return content
    .map((part) => (part.type === 'text' && typeof part.text === 'string' ? part.text : ''))
    .join('');
}

/**
 * The text of a chunk that has nothing but text to say, as nearly all have; undefined for any other, which the
 * schema reads. It reads what the schema would, without its copies; it does not look at further choices.
 */
function plainText(value: unknown): string | undefined {
  if (!isObject(value) || value.error || value.usage || !Array.isArray(value.choices)) return undefined;
  const [choice] = value.choices;
  if (!isObject(choice) || choice.finish_reason || !isObject(choice.delta)) return undefined;
  const { content, refusal, tool_calls } = choice.delta;
  return typeof content === 'string' && content !== '' && !refusal && !tool_calls ? content : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function parseJson(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return undefined;
  }
}
