import { isJsonObject, type JsonObject } from '../../../core/json-object.ts';
import { parsedJson, stringIn } from '../../../model-http/reply/json.ts';
import { type ToolCallDelta, toolCallDeltas } from './tool-call-delta.ts';

/** What the first choice of a chunk adds to the reply. */
export interface ChoiceDelta {
  readonly text: string;
  readonly refusal: string;
  /** The text of the reasoning, for people. The original fields are in `fields`. */
  readonly reasoning: string;
  /** Whether the provider flags the text as reasoning. */
  readonly isThought: boolean;
  /** Whether this is the whole message so far and not only its new part. */
  readonly isWhole: boolean;
  /** Fields that providers want back: those named in `RETURNED`. */
  readonly fields: JsonObject;
  readonly toolCalls: readonly ToolCallDelta[];
}

export type ChatEvent =
  /** A chunk with only text, and maybe the tokens so far. */
  | { readonly kind: 'text'; readonly text: string; readonly usage: unknown }
  | {
      readonly kind: 'chunk';
      readonly delta: ChoiceDelta | undefined;
      readonly finishReason: string | undefined;
      readonly usage: unknown;
    }
  | { readonly kind: 'error'; readonly error: unknown }
  /** Keep-alives, progress and unknown objects. */
  | { readonly kind: 'other' }
  /** Begins like JSON but is not JSON: text may be lost. */
  | { readonly kind: 'broken' };

const OTHER: ChatEvent = { kind: 'other' };

/** The most frequent case comes first: this runs for each piece of text that matches no template. */
export function readChatEvent(data: string, name?: string): ChatEvent {
  const value = parsedJson(data);
  if (value === undefined) return name === 'error' ? { kind: 'error', error: data } : notJson(data);
  const text = plainText(value);
  if (text === undefined) return readChatValue(value, name);
  return { kind: 'text', text, usage: isJsonObject(value) ? (value.usage ?? undefined) : undefined };
}

/** @param value a parsed event, or the whole answer of a server that does not stream. */
export function readChatValue(value: unknown, name?: string): ChatEvent {
  // Google puts its errors into a list.
  if (Array.isArray(value)) return value.length === 0 ? OTHER : readChatValue(value[0], name);
  if (!isJsonObject(value)) return OTHER;
  const choice = Array.isArray(value.choices) ? value.choices.find(isJsonObject) : undefined;
  const error = errorIn(value, name) ?? (choice?.error ? choice : undefined);
  if (error !== undefined) return { kind: 'error', error };
  const usage = usageIn(value, choice);
  if (choice === undefined && usage === undefined) return OTHER;
  return {
    kind: 'chunk',
    delta: choice && deltaOf(choice),
    finishReason: stringIn(choice?.finish_reason) || undefined,
    usage,
  };
}

function notJson(data: string): ChatEvent {
  return /^\s*[{[]/.test(data) ? { kind: 'broken' } : OTHER;
}

/**
 * The text of a chunk with nothing but text, as nearly all are; undefined for any other. Ignores all but the first
 * choice.
 */
function plainText(value: unknown): string | undefined {
  if (!isJsonObject(value) || value.error || !Array.isArray(value.choices)) return undefined;
  const [choice] = value.choices;
  if (
    !isJsonObject(choice) ||
    choice.finish_reason ||
    choice.usage ||
    choice.error ||
    !isJsonObject(choice.delta)
  )
    return undefined;
  const { content } = choice.delta;
  if (typeof content !== 'string' || content === '') return undefined;
  for (const field in choice.delta) if (MORE_THAN_TEXT.has(field) && choice.delta[field]) return undefined;
  return content;
}

/** `thinking_blocks` are LiteLLM's, for the signed thinking of Claude: https://docs.litellm.ai/docs/reasoning_content */
const RETURNED = [
  'reasoning_content',
  'reasoning',
  'reasoning_details',
  'thinking_blocks',
  'extra_content',
] as const;

const MORE_THAN_TEXT: ReadonlySet<string> = new Set(['refusal', 'tool_calls', 'function_call', ...RETURNED]);

/**
 * An error inside a stream: OpenAI's `error`, vLLM's older object, a `type`, MiniMax's status, or the name of the
 * event.
 */
function errorIn(value: JsonObject, name: string | undefined): unknown {
  if (value.error) return value;
  if (value.object === 'error' || value.type === 'error' || name === 'error') return value;
  const { base_resp } = value;
  return isJsonObject(base_resp) && Number(base_resp.status_code) > 0 ? value : undefined;
}

/** Moonshot puts the usage into the choice, Groq into a field of its own. */
function usageIn({ usage, x_groq }: JsonObject, choice: JsonObject | undefined): unknown {
  const found = usage ?? choice?.usage ?? (isJsonObject(x_groq) ? x_groq.usage : undefined);
  return isJsonObject(found) ? found : undefined;
}

/** A server that does not stream has a `message` in place of the `delta`. */
function deltaOf({ delta, message, text }: JsonObject): ChoiceDelta | undefined {
  const fields = isJsonObject(delta) ? delta : isJsonObject(message) ? message : undefined;
  if (!fields) return typeof text === 'string' ? { ...NOTHING, text } : undefined;
  const content = contentOf(fields.content);
  return {
    text: content.text,
    isThought: isGoogleThought(fields.extra_content),
    isWhole: !isJsonObject(delta),
    refusal: stringIn(fields.refusal),
    reasoning: content.reasoning + reasoningOf(fields),
    fields: returnedFields(fields),
    toolCalls: toolCallDeltas(fields),
  };
}

const NOTHING: ChoiceDelta = {
  text: '',
  refusal: '',
  reasoning: '',
  isThought: false,
  isWhole: false,
  fields: {},
  toolCalls: [],
};

/** Mistral's reasoning models send a list of parts, those of type `thinking` with parts of their own. */
function contentOf(content: unknown): { text: string; reasoning: string } {
  if (!Array.isArray(content)) return { text: stringIn(content), reasoning: '' };
  let [text, reasoning] = ['', ''];
  for (const part of content.filter(isJsonObject)) {
    if (part.type === 'text') text += stringIn(part.text);
    if (part.type === 'thinking') reasoning += stringIn(part.thinking) || contentOf(part.thinking).text;
  }
  return { text, reasoning };
}

/** The first field with text counts, because many servers send the same text in two of them. */
function reasoningOf({ reasoning_content, reasoning, reasoning_details }: JsonObject): string {
  return stringIn(reasoning_content) || stringIn(reasoning) || detailsText(reasoning_details);
}

function detailsText(details: unknown): string {
  if (!Array.isArray(details)) return '';
  return details
    .filter(isJsonObject)
    .map((detail) => stringIn(detail.text) || stringIn(detail.summary))
    .join('');
}

function isGoogleThought(extra: unknown): boolean {
  return isJsonObject(extra) && isJsonObject(extra.google) && extra.google.thought === true;
}

function returnedFields(fields: JsonObject): JsonObject {
  const found: Record<string, unknown> = {};
  for (const name of RETURNED) {
    const value = fields[name];
    if (value !== undefined && value !== null) found[name] = value;
  }
  return found;
}
