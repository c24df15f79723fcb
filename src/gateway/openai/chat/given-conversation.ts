import type { GivenMessage } from '../../../core/conversation/given-message.ts';
import type { Image } from '../../../core/conversation/image.ts';
import { imageTypeNamed } from '../../../core/conversation/image-type.ts';
import { ServiceError } from '../../../core/errors.ts';
import type { CallId } from '../../../core/ids.ts';
import { checkImageSize, type MaxBytes } from '../../../core/size-limits.ts';
import { SentImage } from '../../../wire/requests.ts';
import { parseWritten } from '../../requests/request-fields.ts';
import { argumentsOf, GivenCalls } from '../../turns/given-calls.ts';
import { type ChatMessage, type Instruction, isInstruction } from './chat-request.ts';
import type { MessageFields, PlacedMessage } from './placed-message.ts';

/** The messages of a request, as the service takes them. */
export interface GivenConversation {
  /** What the client says besides the system prompt of the agent. */
  readonly instructions: string | undefined;
  /** All but `newest`. */
  readonly history: readonly GivenMessage[];
  /** What the user says at the end. Empty if the conversation ends with the result of a tool, or with an empty message. */
  readonly newest: { readonly text: string; readonly image?: Image };
}

export interface GivenPlace {
  readonly maxImageBytes: MaxBytes;
  /** What is known already. It becomes a part of the history. */
  readonly before?: readonly GivenMessage[];
  /** The names of the tools that the conversation has called, by the ids of the calls. */
  readonly calls?: ReadonlyMap<CallId, string>;
}

/** Throws if the messages are not a conversation that a model can go on with. */
export function givenConversation(messages: readonly PlacedMessage[], place: GivenPlace): GivenConversation {
  const { instructions, history } = givenHistory(messages, place);
  const said = instructions.length > 0 ? instructions.join('\n\n') : undefined;
  const newest = history.at(-1);
  if (newest?.role === 'tool') return { instructions: said, history, newest: { text: '' } };
  if (newest?.role !== 'user') throw notGoingOn(messages.at(-1)?.fields.whole ?? 'input');
  const { text, images = [] } = newest;
  // A turn with an empty text behind other messages has no message of its own.
  if (text === '' && images.length === 0) return { instructions: said, history, newest: { text } };
  history.pop();
  // A message has one image. The others come right before it.
  const others = images.slice(0, -1);
  if (others.length > 0) history.push({ role: 'user', text: '', images: others });
  const image = images.at(-1);
  return {
    instructions: said,
    history,
    newest: { text, ...(image && { image }) },
  };
}

/** Throws if they are no messages. */
export function givenHistory(
  messages: readonly PlacedMessage[],
  { maxImageBytes, before = [], calls }: GivenPlace,
): { readonly instructions: readonly string[]; readonly history: GivenMessage[] } {
  const instructions: string[] = [];
  const history: GivenMessage[] = [...before];
  const called = new GivenCalls(calls);
  for (const message of before) called.add(message);
  for (const { message, fields } of messages) {
    if (isInstruction(message)) instructions.push(textOf(message.content));
    else {
      const given = givenMessage(message, called, { fields, maxImageBytes });
      history.push(given);
      called.add(given);
    }
  }
  return { instructions, history };
}

interface Place {
  readonly fields: MessageFields;
  readonly maxImageBytes: MaxBytes;
}

function givenMessage(
  message: Exclude<ChatMessage, Instruction>,
  called: GivenCalls,
  place: Place,
): GivenMessage {
  switch (message.role) {
    case 'user':
      return userMessage(message.content, place);
    case 'assistant': {
      const { content, refusal, tool_calls = [] } = message;
      const calls = tool_calls.map(({ id, function: { name, arguments: args } }, index) => ({
        callId: id,
        name,
        arguments: argumentsOf(args, place.fields.argumentsOf(index)),
      }));
      return {
        role: 'assistant',
        text: textOf(content ?? '') + (refusal ?? ''),
        ...(calls.length > 0 && { calls }),
      };
    }
    case 'tool': {
      const { tool_call_id: callId, content } = message;
      return {
        role: 'tool',
        callId,
        name: called.nameOf(callId, place.fields.callId),
        text: textOf(content),
      };
    }
    default:
      return message satisfies never;
  }
}

function userMessage(
  content: Extract<ChatMessage, { role: 'user' }>['content'],
  { fields, maxImageBytes }: Place,
): GivenMessage {
  if (typeof content === 'string') return { role: 'user', text: content };
  const images = content.flatMap((part, index) =>
    part.type === 'image_url' ? [imageOf(part.image_url.url, fields.imageOf(index))] : [],
  );
  for (const image of images) checkImageSize(image, maxImageBytes);
  const text = content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
  return { role: 'user', text, ...(images.length > 0 && { images }) };
}

/** Length of the data URLs of all images. */
export function imagesLength(messages: readonly ChatMessage[]): number {
  const urls = messages.flatMap(({ role, content }) =>
    role === 'user' && typeof content !== 'string'
      ? content.flatMap((part) => (part.type === 'image_url' ? [part.image_url.url] : []))
      : [],
  );
  return urls.reduce((sum, url) => sum + url.length, 0);
}

/** The service fetches nothing for a client. */
function imageOf(url: string, field: string): Image {
  const [, mimeType, base64] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? [];
  if (mimeType === undefined || base64 === undefined)
    throw new ServiceError('INVALID_REQUEST', 'An image must be a data URL.', {
      field,
      issue: 'it is not a data URL in base64',
      suggestion: 'Send the image itself: data:image/png;base64,…',
    });
  return parseWritten(SentImage, { mimeType: imageTypeNamed(mimeType), base64 }, () => field);
}

type Content = string | readonly ({ readonly text: string } | { readonly refusal: string })[];

export function textOf(content: Content): string {
  if (typeof content === 'string') return content;
  return content.map((part) => ('text' in part ? part.text : part.refusal)).join('\n');
}

function notGoingOn(field: string): ServiceError {
  return new ServiceError(
    'INVALID_REQUEST',
    'The last message must be one of the user, or the result of a tool.',
    {
      field,
      issue: 'its role is not user or tool',
    },
  );
}
