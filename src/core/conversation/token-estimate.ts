import type { AssistantPart, ModelMessage } from './model-message.ts';

/** A cheap estimate: English text has about four characters a token. Each message takes a few more tokens. */
const CHARACTERS_PER_TOKEN = 4;
const TOKENS_PER_MESSAGE = 4;
/** What providers charge for an image of ordinary size. */
const TOKENS_PER_IMAGE = 1_500;

/** What a message takes of the model's context. Nothing, if there is none or the model is not shown it. */
export function estimateTokens(message: ModelMessage | undefined): number {
  if (!message || message.leftOut) return 0;
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
