import type { ProviderRules, Refusal } from '../provider-rules.ts';
import { isJsonObject, type JsonObject, objectIn, objectsIn, textIn } from './body-fields.ts';

const FIVE_MEGABYTES = 5 * 1024 * 1024;
const MAX_CACHE_MARKS = 4;

/** How the data of an image begins in base64. */
const IMAGE_BEGINNINGS: readonly (readonly [string, string])[] = [
  ['iVBORw0KGgo', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['R0lGOD', 'image/gif'],
  ['UklGR', 'image/webp'],
];

/** What the Messages API demands of the messages and their content. */
export const anthropicMessagesRules: ProviderRules = {
  provider: 'anthropic',
  api: 'messages',
  rules: [
    {
      name: 'there is at least one message',
      source: 'https://github.com/langchain-ai/langchain/issues/31657',
      refusal(body) {
        const none = objectsIn(body, 'messages').length === 0;
        return none ? refused('messages: at least one message is required') : undefined;
      },
    },
    {
      name: 'the user speaks first',
      source: 'https://github.com/tonyljx/TextWordExplain/issues/2',
      refusal(body) {
        const first = objectsIn(body, 'messages')[0];
        return first?.role === 'assistant'
          ? refused('messages: first message must use the "user" role')
          : undefined;
      },
    },
    {
      name: 'every message but a last one of the assistant has content',
      source: 'https://github.com/anthropics/claude-code/issues/6458',
      refusal(body) {
        const messages = objectsIn(body, 'messages');
        const position = messages.findIndex(
          (message, at) => isWithoutContent(message) && !(isAssistant(message) && at === messages.length - 1),
        );
        return position < 0
          ? undefined
          : refused(
              `messages.${position}: all messages must have non-empty content except for the optional final ` +
                'assistant message',
            );
      },
    },
    {
      name: 'no text block is empty',
      source: 'https://github.com/anthropics/claude-code/issues/59812',
      refusal(body) {
        return textBlocks(body).some((text) => text === '')
          ? refused('messages: text content blocks must be non-empty')
          : undefined;
      },
    },
    {
      name: 'no text block is blank',
      source: 'https://github.com/home-assistant/core/issues/175637',
      refusal(body) {
        return textBlocks(body).some((text) => text !== '' && text.trim() === '')
          ? refused('messages: text content blocks must contain non-whitespace text')
          : undefined;
      },
    },
    {
      name: 'a last message of the assistant does not end with a blank',
      source: 'https://github.com/tailcallhq/forgecode/issues/1872',
      refusal(body) {
        const last = objectsIn(body, 'messages').at(-1);
        const text =
          last !== undefined && isAssistant(last) ? textIn(blocksOf(last).at(-1) ?? {}, 'text') : '';
        return text === text.trimEnd()
          ? undefined
          : refused('messages: final assistant content cannot end with trailing whitespace');
      },
    },
    {
      name: 'the user has the last word since Claude 4.6',
      source: 'https://github.com/langchain-ai/langchain/pull/36611',
      refusal(body) {
        const last = objectsIn(body, 'messages').at(-1);
        const isNew = /^claude-(opus|sonnet|haiku)-(4-[6-9]|[5-9])(?!\d)/.test(textIn(body, 'model'));
        return isNew && last !== undefined && isAssistant(last)
          ? refused(
              'This model does not support assistant message prefill. ' +
                'The conversation must end with a user message.',
            )
          : undefined;
      },
    },
    {
      name: 'an image has the type that the request says',
      source: 'https://github.com/anthropics/claude-code/issues/12041',
      refusal(body) {
        return images(body).map(mismatch).find(isRefusal);
      },
    },
    {
      name: 'an image has no more than 5 MB',
      source: 'https://github.com/2anki/2anki.net/pull/2834',
      refusal(body) {
        const large = images(body).find(({ data }) => data.length > FIVE_MEGABYTES);
        return large === undefined
          ? undefined
          : refused(`image exceeds 5 MB maximum: ${large.data.length} bytes`);
      },
    },
    {
      name: 'at most four blocks mark the cache',
      source: 'https://github.com/tghamm/Anthropic.SDK/issues/50',
      refusal(body) {
        const marks =
          cacheMarks(objectsIn(body, 'system')) +
          cacheMarks(objectsIn(body, 'tools')) +
          cacheMarks(objectsIn(body, 'messages').flatMap(blocksOf));
        return marks <= MAX_CACHE_MARKS
          ? undefined
          : refused(`A maximum of 4 blocks with cache_control may be provided. Found ${marks}.`);
      },
    },
  ],
};

interface Image {
  /** Where it stands in the request: `messages.0.content.1`. */
  readonly place: string;
  readonly mediaType: string;
  readonly data: string;
}

function refused(message: string): Refusal {
  return {
    status: 400,
    body: {
      type: 'error',
      error: { type: 'invalid_request_error', message },
      request_id: 'req_011CVyT4mKqXw9LbNz6HsRcP',
    },
  };
}

function isRefusal(value: Refusal | undefined): value is Refusal {
  return value !== undefined;
}

function isAssistant(message: JsonObject): boolean {
  return message.role === 'assistant';
}

function isWithoutContent(message: JsonObject): boolean {
  return message.content === '' || (Array.isArray(message.content) && message.content.length === 0);
}

/** The blocks of a message; plain text counts as one block. */
function blocksOf(message: JsonObject): readonly JsonObject[] {
  const text = textIn(message, 'content');
  return text === '' ? objectsIn(message, 'content') : [{ type: 'text', text }];
}

function textBlocks(body: JsonObject): readonly string[] {
  return objectsIn(body, 'messages')
    .flatMap(blocksOf)
    .filter((block) => block.type === 'text')
    .map((block) => textIn(block, 'text'));
}

function cacheMarks(blocks: readonly JsonObject[]): number {
  return blocks.filter((block) => isJsonObject(block.cache_control)).length;
}

function images(body: JsonObject): readonly Image[] {
  return objectsIn(body, 'messages').flatMap((message, at) =>
    blocksOf(message).flatMap((block, position) => {
      const source = objectIn(block, 'source');
      return block.type === 'image' && source.type === 'base64'
        ? [
            {
              place: `messages.${at}.content.${position}`,
              mediaType: textIn(source, 'media_type'),
              data: textIn(source, 'data'),
            },
          ]
        : [];
    }),
  );
}

function mismatch({ place, mediaType, data }: Image): Refusal | undefined {
  const found = IMAGE_BEGINNINGS.find(([beginning]) => data.startsWith(beginning));
  return found === undefined || found[1] === mediaType
    ? undefined
    : refused(`${place}.image.source.base64.data: Image does not match the provided media type ${mediaType}`);
}
