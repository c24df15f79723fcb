import { createHash } from 'node:crypto';
import type {
  ImageBlockParam,
  TextBlockParam,
  ToolResultBlockParam,
  ToolUseBlockParam,
} from '@anthropic-ai/sdk/resources/messages';
import type {
  AssistantMessage,
  AssistantPart,
  ModelMessage,
  ToolMessage,
  UserMessage,
} from '../../core/conversation/model-message.ts';
import { NO_TEXT } from '../../model-http/provider/empty-texts.ts';
import { acceptableCallId } from '../../model-http/reply/call-ids.ts';
import { isThinkingBlock, type ThinkingBlock } from './thinking-blocks.ts';

export type UserBlock = TextBlockParam | ImageBlockParam | ToolResultBlockParam;
export type AssistantBlock = TextBlockParam | ToolUseBlockParam | ThinkingBlock;

export type Message =
  | { readonly role: 'user'; readonly content: readonly UserBlock[] }
  | { readonly role: 'assistant'; readonly content: readonly AssistantBlock[] };

const NO_THINKING: ThinkingBlock = { type: 'thinking', thinking: '', signature: '' };
const CALL_ID = /^[a-zA-Z0-9_-]{1,64}$/;

/**
 * Which replies are sent with their thinking.
 *
 * - `turn`: those of the current turn, because tool calls need it there. Claude allows leaving out the oldest thinking,
 *   and newer models refuse thinking if anything before it has changed.
 *   https://platform.claude.com/docs/en/build-with-claude/preserved-thinking#prefix-check
 * - `all`: for models other than Claude, which know no such rule.
 * - `each`: all, and those without thinking have an empty block, because the model refuses any reply without one.
 *   https://github.com/NousResearch/hermes-agent/pull/16149 and https://github.com/leookun/cursor-byok/pull/276. Kimi refuses
 *   calls without one: https://github.com/NousResearch/hermes-agent/pull/14018
 */
export type SentThinking = 'turn' | 'all' | 'each';

/** The messages of a request. */
export function conversation(messages: readonly ModelMessage[], thinking: SentThinking): Message[] {
  const turn = messages.findLastIndex(({ role }) => role === 'user');
  const list: Message[] = [];
  messages.forEach((message, index) => {
    const next = messageOf(message, thinking === 'turn' && index <= turn ? 'none' : thinking);
    const last = list.at(-1);
    if (next.content.length === 0) return;
    // All results of parallel calls belong in one message, together with the user's text after them.
    if (last?.role === 'user' && next.role === 'user') {
      list[list.length - 1] = { role: 'user', content: [...last.content, ...next.content] };
    } else if (last?.role === 'assistant' && next.role === 'assistant') {
      list[list.length - 1] = { role: 'assistant', content: [...last.content, ...next.content] };
    } else list.push(next);
  });
  const last = list.at(-1);
  return last?.role === 'assistant' ? [...list.slice(0, -1), trimmedAtEnd(last.content)] : list;
}

/** Digests of everything but thinking before each message and, as the last one, before the reply. */
export function prefixesOf(messages: readonly Message[], ...before: readonly unknown[]): string[] {
  const hash = createHash('sha1').update(JSON.stringify(before));
  return [
    hash.copy().digest('base64'),
    ...messages.map(({ role, content }) => {
      const shown = content.filter((block) => !isThinkingBlock(block));
      return hash
        .update(JSON.stringify([role, shown]))
        .copy()
        .digest('base64');
    }),
  ];
}

function messageOf(message: ModelMessage, thinking: SentThinking | 'none'): Message {
  switch (message.role) {
    case 'user':
      return { role: 'user', content: userContent(message) };
    case 'assistant':
      return { role: 'assistant', content: assistantContent(message, thinking) };
    case 'tool':
      return { role: 'user', content: [toolResult(message)] };
    default:
      return message satisfies never;
  }
}

/** Claude sees better when images come before the text. */
function userContent({ text, images = [] }: UserMessage): UserBlock[] {
  const pictures = images.map(({ mimeType, base64 }): ImageBlockParam => {
    return { type: 'image', source: { type: 'base64', media_type: mimeType, data: base64 } };
  });
  const content = [...pictures, ...textBlocks(text)];
  return content.length === 0 ? textBlocks(NO_TEXT) : content;
}

function assistantContent(
  { parts }: AssistantMessage,
  thinking: SentThinking | 'none',
): readonly AssistantBlock[] {
  const blocks = parts.flatMap((part) => assistantBlocks(part, thinking !== 'none'));
  // Claude refuses a message that ends with thinking.
  const end = blocks.findLastIndex((block) => !isThinkingBlock(block));
  const content = blocks.slice(0, end + 1);
  const isBare = content.length > 0 && !content.some(isThinkingBlock);
  return thinking === 'each' && isBare ? [NO_THINKING, ...content] : content;
}

function assistantBlocks(part: AssistantPart, withThinking: boolean): AssistantBlock[] {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return textBlocks(part.text);
    case 'toolCall': {
      const id = acceptableCallId(part.callId, CALL_ID);
      return [{ type: 'tool_use', id, name: part.name, input: part.arguments }];
    }
    case 'opaque':
      return withThinking && isThinkingBlock(part.data) ? [part.data] : [];
    case 'reasoning':
      return [];
    default:
      return part satisfies never;
  }
}

function toolResult({ callId, text }: ToolMessage): ToolResultBlockParam {
  const tool_use_id = acceptableCallId(callId, CALL_ID);
  return { type: 'tool_result', tool_use_id, ...(text !== '' && { content: text }) };
}

/** Claude refuses blocks of text without a visible character. */
function textBlocks(text: string): TextBlockParam[] {
  return text.trim() === '' ? [] : [{ type: 'text', text }];
}

/** A request that ends with the model's own words must not end in white space. */
function trimmedAtEnd(content: readonly AssistantBlock[]): Message {
  const last = content.at(-1);
  if (last?.type !== 'text') return { role: 'assistant', content };
  return { role: 'assistant', content: [...content.slice(0, -1), { ...last, text: last.text.trimEnd() }] };
}
