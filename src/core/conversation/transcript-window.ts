import type { AssistantPart, ModelMessage } from './model-message.ts';

/** A cheap estimate: English text has about four characters a token, and each message a few tokens around it. */
const CHARACTERS_PER_TOKEN = 4;
const TOKENS_PER_MESSAGE = 4;
/** What providers charge for an image of ordinary size. */
const TOKENS_PER_IMAGE = 1_500;

/**
 * The newest part of a conversation that fits, as it is shown to the model; the log keeps everything. It
 * begins with a user's message, holds the last one and the newest step whatever their size, and never parts a
 * tool call from its result. Looks no further back than it fits, so a long history costs nothing.
 */
export function transcriptWindow(messages: readonly ModelMessage[], maxTokens: number): ModelMessage[] {
  const lastUser = messages.findLastIndex(({ role }) => role === 'user');
  let budget = maxTokens - estimateAt(messages, lastUser);
  let start = messages.length;
  for (let end = messages.length; end > 0; ) {
    const begin = unitBegin(messages, end - 1);
    if (begin !== lastUser)
      for (let index = begin; index < end; index += 1) budget -= estimateAt(messages, index);
    // A model that is not shown what its last call brought would call again, and again.
    if (budget < 0 && end < messages.length) break;
    start = begin;
    end = begin;
  }
  if (start > lastUser) return [...messages.slice(lastUser, lastUser + 1), ...messages.slice(start)];
  while (start < lastUser && messages[start]?.role !== 'user') start += 1;
  return messages.slice(Math.max(0, start));
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

/** Tokens of a text by itself, such as the system prompt. */
export function estimateText(text: string): number {
  return Math.ceil(text.length / CHARACTERS_PER_TOKEN);
}

function estimateAt(messages: readonly ModelMessage[], index: number): number {
  const message = messages[index];
  return message ? estimateTokens(message) : 0;
}

/** First message of the unit that ends here: tool results belong to the assistant's message that asked for them. */
function unitBegin(messages: readonly ModelMessage[], last: number): number {
  let begin = last;
  while (begin > 0 && messages[begin]?.role === 'tool') begin -= 1;
  return begin;
}
