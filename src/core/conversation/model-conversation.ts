import { acceptableToolName } from '../tool-call/tool-names.ts';
import type { ModelSource } from '../turn/reply-parts.ts';
import type { Image } from './image.ts';
import type {
  AssistantMessage,
  AssistantPart,
  ModelMessage,
  ModelToolCall,
  ToolMessage,
  UserMessage,
} from './model-message.ts';
import type { Caution } from './refusals.ts';
import { beginOfTurn } from './transcript.ts';

export interface ConversationOptions {
  /** The model that will read it. */
  readonly source: ModelSource | null;
  /** How much to leave out, because the provider has refused requests. */
  readonly caution: Caution;
}

/**
 * Makes a conversation acceptable to every provider:
 *
 * - leaves out what a provider has refused, and the opaque data of other models
 * - says where a reply was cut off
 * - puts the result of each tool call behind the call, and gives tools acceptable names
 * - joins neighbouring messages of the same role
 * - puts a note before a reply that stands first: many chat templates want a message of the user there
 *
 * This runs over the whole window in each step, so messages that need no change are not copied.
 *
 * @param window the newest part of a conversation.
 */
export function modelConversation(
  window: readonly ModelMessage[],
  { source, caution }: ConversationOptions,
): ModelMessage[] {
  const newest = beginOfTurn(window);
  const begin = caution === 'newest-alone' ? Math.max(0, newest) : 0;
  const shown = begin === 0 ? window : window.slice(begin);
  const bare = caution === 'bare' || caution === 'newest-alone';
  const same = bare ? 0 : lengthAsItIs(shown);
  const messages = new Messages(shown, same);
  for (let index = same; index < shown.length; index += 1) {
    const message = shown[index];
    if (message === undefined || message.leftOut) continue;
    switch (message.role) {
      case 'user':
        messages.addUser(bare ? { ...message, imagesLeftOut: true } : message);
        break;
      case 'assistant':
        if (isPlainText(message) && messages.last?.role !== 'assistant') messages.list.push(message);
        // The newest turn keeps its opaque data, because some providers refuse it without them.
        else
          messages.addAssistant(readable(message, bare && begin + index < newest ? null : source), message);
        break;
      case 'tool':
        // `addAssistant` has added it, behind its call.
        break;
      default:
        message satisfies never;
    }
  }
  const { list } = messages;
  return list[0]?.role === 'assistant' ? [{ role: 'user', text: NO_MESSAGE }, ...list] : list;
}

/** A conversation that every provider accepts, with more text of the user at its end. */
export function withUserText(conversation: readonly ModelMessage[], text: string): ModelMessage[] {
  const messages = new Messages(conversation, conversation.length);
  messages.addUser({ role: 'user', text });
  return messages.list;
}

/** The tool calls of a message, without those whose request is missing in the log. */
export function requestedCalls({ parts }: AssistantMessage): ModelToolCall[] {
  return parts.flatMap((part) => {
    if (part.type !== 'toolCall' || part.name === '') return [];
    const { type, opaque, ...call } = part;
    return [call];
  });
}

/** The results of the calls of a message, by the ids of the calls. */
type Results = ReadonlyMap<string, ToolMessage>;

const NO_RESULTS: Results = new Map();

/** Ids are unique in a reply only: some servers count them from 0 each time. So a result belongs to the last call before it. */
function resultsOf(messages: readonly ModelMessage[]): ReadonlyMap<ModelMessage, Results> {
  const ofMessage = new Map<ModelMessage, Results>();
  const later = new Map<string, ToolMessage>();
  for (const message of messages.toReversed()) {
    if (message.leftOut) continue;
    if (message.role === 'tool' && !later.has(message.callId)) later.set(message.callId, message);
    if (message.role !== 'assistant') continue;
    const calls = requestedCalls(message);
    if (calls.length === 0) continue;
    const results = new Map<string, ToolMessage>();
    for (const { callId } of calls) {
      const result = later.get(callId);
      if (result) results.set(callId, result);
      later.delete(callId);
    }
    ofMessage.set(message, results);
  }
  return ofMessage;
}

/** Collects messages so that the roles alternate as providers want it. */
class Messages {
  readonly list: ModelMessage[];
  readonly #shown: readonly ModelMessage[];
  #results: ReadonlyMap<ModelMessage, Results> | undefined;

  /**
   * @param shown the messages that may hold the results of tool calls.
   * @param same how many of them to begin with.
   */
  constructor(shown: readonly ModelMessage[], same: number) {
    this.#shown = shown;
    this.list = shown.slice(0, same);
  }

  get last(): ModelMessage | undefined {
    return this.list[this.list.length - 1];
  }

  addUser(message: UserMessage): void {
    const user = withImageNote(message);
    const { last } = this;
    // Some chat templates accept no user message directly after the result of a tool.
    if (last?.role === 'tool')
      this.list.push({ role: 'assistant', parts: [{ type: 'text', text: NO_REPLY }] });
    if (last?.role === 'user') this.list[this.list.length - 1] = joined(last, user);
    else this.list.push(user);
  }

  /** @param original the message as it stands among those that are shown. */
  addAssistant(message: AssistantMessage, original: AssistantMessage): void {
    this.#results ??= resultsOf(this.#shown);
    const results = this.#results.get(original) ?? NO_RESULTS;
    const isShown = (part: AssistantPart): boolean => part.type !== 'toolCall' || results.has(part.callId);
    const parts = message.parts.every(isShown) ? message.parts : message.parts.filter(isShown);
    if (!parts.some(isContent)) return;
    const { last } = this;
    const { source } = message;
    if (last?.role === 'assistant') {
      const both = source ?? last.source;
      this.list[this.list.length - 1] = {
        role: 'assistant',
        parts: [...last.parts, ...parts],
        ...(both && { source: both }),
      };
    } else if (parts === message.parts) this.list.push(message);
    else this.list.push({ role: 'assistant', parts, ...(source && { source }) });
    for (const part of parts) {
      const result = part.type === 'toolCall' ? results.get(part.callId) : undefined;
      if (result) this.list.push(withAcceptableName(result));
    }
  }
}

/** Number of messages at the beginning of a conversation that providers take as they are: texts in turn. */
function lengthAsItIs(messages: readonly ModelMessage[]): number {
  let index = 0;
  for (; index < messages.length; index += 1) {
    const message = messages[index];
    const role = index % 2 === 0 ? 'user' : 'assistant';
    if (message === undefined || message.role !== role || message.leftOut) break;
    if (message.role === 'user' ? withImageNote(message) !== message : !isPlainText(message)) break;
  }
  return index;
}

/** Whether a reply is one text without anything to change. Most are, and a window may have thousands of them. */
function isPlainText({ parts, cut, source }: AssistantMessage): boolean {
  const part = parts[0];
  if (parts.length !== 1 || cut !== undefined || source !== undefined) return false;
  return part?.type === 'text' && part.text !== '' && part.opaque === undefined;
}

const NO_REPLY = '[no reply: this turn ended here]';
const NO_MESSAGE = '[no message: the conversation begins with the reply]';

/** Whether a message may consist of this part alone. Reasoning is for people, and opaque data belong to other parts. */
function isContent(part: AssistantPart): boolean {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return part.text !== '';
    case 'toolCall':
      return true;
    case 'reasoning':
    case 'opaque':
      return false;
    default:
      return part satisfies never;
  }
}

/** Adapts a reply to its reader. @param source the model that reads it; null to leave out all opaque data. */
function readable(message: AssistantMessage, source: ModelSource | null): AssistantMessage {
  const { parts, cut } = message;
  const isOwn = message.source !== undefined && source !== null && isSame(message.source, source);
  const asItIs = parts.every((part) => readablePart(part, isOwn) === part);
  if (asItIs && cut === undefined && (isOwn || message.source === undefined)) return message;
  const shown = asItIs ? parts : parts.flatMap((part) => readablePart(part, isOwn) ?? []);
  const note = cutNote(cut);
  return {
    role: 'assistant',
    parts: note === '' ? shown : withNote(shown, note),
    ...(isOwn && { source }),
  };
}

/** @returns the same part if nothing has to change; null if the model must not see it. */
function readablePart(part: AssistantPart, isOwn: boolean): AssistantPart | null {
  switch (part.type) {
    case 'reasoning':
      return null;
    case 'opaque':
      return isOwn ? part : null;
    case 'toolCall': {
      if (part.name === '') return null;
      const call = withAcceptableName(part);
      return isOwn ? call : withoutOpaque(call);
    }
    case 'text':
      return isOwn ? part : withoutOpaque(part);
    case 'refusal':
      return part;
    default:
      return part satisfies never;
  }
}

function withoutOpaque<P extends { readonly opaque?: unknown }>(part: P): P | Omit<P, 'opaque'> {
  if (part.opaque === undefined) return part;
  const { opaque, ...rest } = part;
  return rest;
}

function withAcceptableName<T extends { readonly name: string }>(tool: T): T {
  const name = acceptableToolName(tool.name);
  return name === tool.name ? tool : { ...tool, name };
}

function isSame(one: ModelSource, other: ModelSource): boolean {
  return one.api === other.api && one.provider === other.provider && one.model === other.model;
}

function withNote(parts: readonly AssistantPart[], note: string): AssistantPart[] {
  const last = parts.at(-1);
  if (last?.type !== 'text') return [...parts, { type: 'text', text: note.trimStart() }];
  return [...parts.slice(0, -1), { ...last, text: last.text + note }];
}

/** Without this note, the model takes half a sentence for a complete one. */
function cutNote(cut: AssistantMessage['cut']): string {
  switch (cut) {
    case undefined:
      return '';
    case 'cancelled':
      return ' [cut off: the user cancelled this reply]';
    case 'failed':
      return ' [cut off: this reply failed]';
    default:
      return cut satisfies never;
  }
}

function withImageNote(message: UserMessage): UserMessage {
  const { text, images, imagesLeftOut } = message;
  if (imagesLeftOut === undefined && message.leftOut === undefined) return message;
  if (!images || !imagesLeftOut) return { role: 'user', text, ...(images && { images }) };
  return {
    role: 'user',
    text: joinTexts(text, '[an image was left out: the provider of the model refused it]'),
  };
}

function joined(first: UserMessage, second: UserMessage): UserMessage {
  const images: Image[] = [...(first.images ?? []), ...(second.images ?? [])];
  return { role: 'user', text: joinTexts(first.text, second.text), ...(images.length > 0 && { images }) };
}

function joinTexts(first: string, second: string): string {
  return first === '' || second === '' ? first + second : `${first}\n\n${second}`;
}
