import type { AssistantPart, ModelMessage, UserMessage } from './model-message.ts';

/** A cheap estimate: English text has about four characters a token. Each message takes a few more tokens. */
const CHARACTERS_PER_TOKEN = 4;
const TOKENS_PER_MESSAGE = 4;
/** What providers charge for an image of ordinary size. */
const TOKENS_PER_IMAGE = 1_500;

/**
 * The newest part of a conversation that fits into `maxTokens`, by an estimate. It begins with a message of the user.
 * It always has the user's last message and the newest step, however large, and no tool call without its result.
 * The search goes back only as far as messages fit, so a long history costs nothing.
 * @param next follows the messages.
 */
export function transcriptWindow(
  messages: readonly ModelMessage[],
  maxTokens: number,
  next?: UserMessage,
): ModelMessage[] {
  const lastUser = next ? messages.length : messages.findLastIndex(({ role }) => role === 'user');
  let budget = maxTokens - (next ? estimateTokens(next) : estimateAt(messages, lastUser));
  let start = messages.length;
  for (let end = messages.length; end > 0; ) {
    const begin = unitBegin(messages, end - 1);
    if (begin !== lastUser)
      for (let index = begin; index < end; index += 1) budget -= estimateAt(messages, index);
    // A model that does not see the results of its last calls would repeat the calls for ever.
    const isNewest = end === messages.length && !next;
    if (budget < 0 && !isNewest) break;
    start = begin;
    end = begin;
  }
  if (start > lastUser) return [...messages.slice(lastUser, lastUser + 1), ...messages.slice(start)];
  while (start < lastUser && messages[start]?.role !== 'user') start += 1;
  const window = messages.slice(Math.max(0, start));
  return next ? [...window, next] : window;
}

export function estimateTokens(message: ModelMessage): number {
  if (message.leftOut) return 0;
  const images = message.role === 'user' && !message.imagesLeftOut ? (message.images?.length ?? 0) : 0;
  return (
    Math.ceil(charactersOf(message) / CHARACTERS_PER_TOKEN) + TOKENS_PER_MESSAGE + images * TOKENS_PER_IMAGE
  );
}

function charactersOf(message: ModelMessage): number {
  if (message.role !== 'assistant') return message.text.length;
  let sum = 0;
  for (const part of message.parts) sum += partCharacters(part);
  return sum;
}

function partCharacters(part: AssistantPart): number {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return part.text.length;
    case 'reasoning':
      return 0;
    case 'toolCall':
    case 'opaque':
      return JSON.stringify(part).length;
    default:
      return part satisfies never;
  }
}

/** The tokens of a text that is no message, such as the system prompt. */
export function estimateText(text: string): number {
  return Math.ceil(text.length / CHARACTERS_PER_TOKEN);
}

function estimateAt(messages: readonly ModelMessage[], index: number): number {
  const message = messages[index];
  return message ? estimateTokens(message) : 0;
}

/** Index of the first message of the unit that ends at `last`. A reply and the results of its calls are one unit. */
function unitBegin(messages: readonly ModelMessage[], last: number): number {
  let begin = last;
  while (begin > 0 && messages[begin]?.role === 'tool') begin -= 1;
  return begin;
}
