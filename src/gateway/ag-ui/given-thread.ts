import type { GivenMessage } from '../../core/conversation/given-message.ts';
import type { Image } from '../../core/conversation/image.ts';
import { checkImageSize, type MaxBytes } from '../../core/size-limits.ts';
import { SentImage } from '../../wire/requests.ts';
import { argumentsOf, GivenCalls } from '../turns/given-calls.ts';
import type { Content, ContentPart, InputMessage } from './run-input.ts';

/** The messages of an input, as the service takes them. */
export interface GivenThread {
  /** What the client says besides the system prompt of the agent. */
  readonly instructions: readonly string[];
  readonly history: readonly GivenMessage[];
  /** The ids that the client has given to the messages of `history`. */
  readonly ids: readonly string[];
  /** What of it the service cannot use, for people. */
  readonly warnings: readonly string[];
}

export interface ThreadPlace {
  readonly maxImageBytes: MaxBytes;
  /** Whether the session has the conversation up to the last reply already. */
  readonly isKnown: boolean;
}

/** Throws if the messages are not a conversation. */
export function givenThread(
  messages: readonly InputMessage[],
  { maxImageBytes, isKnown }: ThreadPlace,
): GivenThread {
  const lastReply = isKnown ? messages.findLastIndex(({ role }) => role === 'assistant') : -1;
  const instructions: string[] = [];
  const history: GivenMessage[] = [];
  const ids: string[] = [];
  const warnings: string[] = [];
  const called = new GivenCalls();
  const add = (id: string, message: GivenMessage): void => {
    history.push(message);
    called.add(message);
    ids.push(id);
  };
  for (const [index, message] of messages.entries()) {
    const field = `messages.${index}`;
    if (index <= lastReply && message.role !== 'system' && message.role !== 'developer') continue;
    switch (message.role) {
      case 'system':
      case 'developer':
        instructions.push(message.content);
        break;
      case 'user': {
        const { text, images } = contentOf(message.content, { field, maxImageBytes, warnings });
        add(message.id, { role: 'user', text, ...(images.length > 0 && { images }) });
        break;
      }
      case 'assistant': {
        const { content = '', toolCalls = [] } = message;
        const calls = toolCalls.map(({ id: callId, function: { name, arguments: args } }, at) => ({
          callId,
          name,
          arguments: argumentsOf(args, `${field}.toolCalls.${at}.function.arguments`),
        }));
        add(message.id, { role: 'assistant', text: content, ...(calls.length > 0 && { calls }) });
        break;
      }
      case 'tool': {
        if (isKnown) break;
        const { toolCallId: callId } = message;
        const name = called.nameOf(callId, `${field}.toolCallId`);
        add(message.id, { role: 'tool', callId, name, text: resultText(message) });
        break;
      }
      // What the model thought in another run is of no use to it.
      case 'reasoning':
      case 'activity':
        break;
      default:
        message satisfies never;
    }
  }
  return { instructions, history, ids, warnings };
}

/** What the model reads of the result of a tool of the client. */
function resultText({ content, error }: Extract<InputMessage, { role: 'tool' }>): string {
  return error ?? textOf(content);
}

function textOf(content: Content): string {
  if (typeof content === 'string') return content;
  return content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
}

/** Length of the base64 of all images, and of the parts that are left out. */
export function filesLength(messages: readonly InputMessage[]): number {
  const parts = messages.flatMap((message) =>
    message.role === 'user' && typeof message.content !== 'string' ? message.content : [],
  );
  return parts.reduce((sum, part) => sum + fileLength(part), 0);
}

function fileLength(part: ContentPart): number {
  switch (part.type) {
    case 'text':
      return 0;
    case 'other':
      return JSON.stringify(part.part).length;
    default:
      return part.source.type === 'data' ? part.source.value.length : 0;
  }
}

interface Place {
  readonly field: string;
  readonly maxImageBytes: MaxBytes;
  readonly warnings: string[];
}

function contentOf(
  content: Content,
  { field, maxImageBytes, warnings }: Place,
): { readonly text: string; readonly images: Image[] } {
  const images: Image[] = [];
  if (typeof content === 'string') return { text: content, images };
  for (const [index, part] of content.entries()) {
    if (part.type === 'text') continue;
    const image = imageOf(part, `${field}.content.${index}`);
    if (typeof image === 'string') {
      warnings.push(image);
      continue;
    }
    checkImageSize(image, maxImageBytes);
    images.push(image);
  }
  return { text: textOf(content), images };
}

/** @returns why the part is left out, if it is: the protocol does not let a run fail for it. */
function imageOf(part: Exclude<ContentPart, { type: 'text' }>, field: string): Image | string {
  if (part.type !== 'image') {
    const { type } = part.type === 'other' ? part.part : part;
    return `${field} was left out: the agent takes text and images, and no ${type}.`;
  }
  const { source } = part;
  if (source.type !== 'data')
    return `${field} was left out: the service fetches nothing. Send the image itself, with a source of type data.`;
  const { data, error } = SentImage.safeParse({ mimeType: source.mimeType, base64: source.value });
  if (data) return data;
  const [issue] = error.issues;
  const wrong = issue?.path[0] === 'mimeType' ? 'mimeType' : 'value';
  return `${field} was left out: source.${wrong} is not valid: ${issue?.message}.`;
}
