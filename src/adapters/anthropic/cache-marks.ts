import type { CacheControlEphemeral, TextBlockParam, Tool } from '@anthropic-ai/sdk/resources/messages';
import type { Message } from './conversation.ts';

/** Claude caches everything before such a mark for five minutes. A request may hold four marks. */
const MARK: CacheControlEphemeral = { type: 'ephemeral' };

export function markedSystem(text: string): TextBlockParam[] {
  return [{ type: 'text', text, cache_control: MARK }];
}

export function withMarkedTools(tools: readonly Tool[]): Tool[] {
  return tools.map((tool, index) => (index === tools.length - 1 ? { ...tool, cache_control: MARK } : tool));
}

/**
 * Marks the newest two user messages. The request reads the cache up to the older mark, where the last request
 * wrote it, and writes it up to the newer. Assistant messages get no mark, because thinking cannot have one.
 */
export function withMarkedMessages(messages: readonly Message[]): Message[] {
  const newest = messages.flatMap(({ role }, index) => (role === 'user' ? [index] : [])).slice(-2);
  return messages.map((message, index) =>
    message.role === 'user' && newest.includes(index) ? marked(message) : message,
  );
}

function marked(message: Extract<Message, { role: 'user' }>): Message {
  const last = message.content.at(-1);
  if (!last) return message;
  return { ...message, content: [...message.content.slice(0, -1), { ...last, cache_control: MARK }] };
}
