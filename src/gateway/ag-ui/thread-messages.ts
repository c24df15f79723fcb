import type { GivenMessage } from '../../core/conversation/given-message.ts';
import type { Image } from '../../core/conversation/image.ts';
import { hasMessage } from '../../core/conversation/transcript.ts';
import type { TurnId } from '../../core/ids.ts';
import type { Envelope } from '../../core/log/envelope.ts';
import type { SessionEventOf } from '../../core/log/events.ts';
import { reasoningText, spokenText } from '../../core/turn/step-parts.ts';
import type { ThreadMessage } from './ag-ui-events.ts';
import {
  addedIds,
  broughtIds,
  imagesBefore,
  reasoningMessageId,
  resultMessageId,
  stepMessageId,
} from './message-ids.ts';
import { resultContent } from './result-content.ts';
import type { Content } from './run-input.ts';

type Assistant = Extract<ThreadMessage, { role: 'assistant' }>;

/** The messages of a session, as a client of AG-UI keeps them. Takes the events in order. */
export class ThreadMessages {
  readonly #messages: ThreadMessage[] = [];
  readonly #requested = new Map<TurnId, SessionEventOf<'turn.requested'>>();
  #attempt: number;

  /** @param attempt of the turn in the middle of which the events begin. */
  constructor(attempt = 1) {
    this.#attempt = attempt;
  }

  get all(): readonly ThreadMessage[] {
    return this.#messages;
  }

  take({ event, seq }: Pick<Envelope, 'event' | 'seq'>): void {
    switch (event.type) {
      case 'turn.requested':
        this.#requested.set(event.turnId, event);
        return;
      case 'turn.started':
        this.#start(event.turnId);
        return;
      case 'turn.resumed':
        this.#attempt = event.attempt;
        return;
      case 'step.completed':
        this.#addStep(event);
        return;
      case 'tool-call.requested':
        this.#addCall(event);
        return;
      case 'tool-call.succeeded':
      case 'tool-call.failed':
      case 'tool-call.interrupted': {
        const { turnId, callId } = event;
        const id = resultMessageId(turnId, callId);
        this.#messages.push({ id, role: 'tool', toolCallId: callId, content: resultContent(event) });
        return;
      }
      case 'turn.cancelled':
      case 'turn.failed': {
        const { turnId, step, partial } = event;
        this.#requested.delete(turnId);
        const id = stepMessageId(turnId, step, this.#attempt);
        if (partial !== '') this.#messages.push({ id, role: 'assistant', content: partial });
        return;
      }
      case 'turn.completed':
        this.#requested.delete(event.turnId);
        return;
      case 'session.extended':
        this.#addGiven(event.given, addedIds(event, seq));
        return;
      case 'session.reset':
        this.#messages.length = 0;
        return;
      default:
    }
  }

  #start(turnId: TurnId): void {
    this.#attempt = 1;
    const requested = this.#requested.get(turnId);
    if (!requested) return;
    const { given = [], text, image } = requested;
    const ids = broughtIds(requested);
    const others = imagesBefore(requested);
    this.#addGiven(others.length > 0 ? given.slice(0, -1) : given, ids);
    const content = userContent(text, [...others, ...(image ? [image] : [])]);
    if (hasMessage(requested)) this.#messages.push({ id: ids.at(-1) ?? '', role: 'user', content });
  }

  #addGiven(given: readonly GivenMessage[], ids: readonly string[]): void {
    for (const [index, message] of given.entries())
      this.#messages.push(givenMessage(message, ids[index] ?? ''));
  }

  #addStep({ turnId, step, parts }: SessionEventOf<'step.completed'>): void {
    const id = stepMessageId(turnId, step, this.#attempt);
    const reasoning = reasoningText(parts);
    if (reasoning !== '')
      this.#messages.push({ id: reasoningMessageId(id, 0), role: 'reasoning', content: reasoning });
    const text = spokenText(parts);
    const hasCalls = parts.some(({ type }) => type === 'toolCall');
    if (text === '' && !hasCalls) return;
    this.#messages.push({ id, role: 'assistant', ...(text !== '' && { content: text }) });
  }

  /** The calls of a step follow it at once. */
  #addCall({ callId, name, arguments: args }: SessionEventOf<'tool-call.requested'>): void {
    const step = this.#messages.at(-1);
    if (step?.role !== 'assistant') throw new Error(`tool call ${callId} follows no step`);
    const toolCalls = [...(step.toolCalls ?? []), toolCall(callId, name, args)];
    this.#messages[this.#messages.length - 1] = { ...step, toolCalls };
  }
}

function toolCall(id: string, name: string, args: object): NonNullable<Assistant['toolCalls']>[number] {
  return { id, type: 'function', function: { name, arguments: JSON.stringify(args) } };
}

function givenMessage(message: GivenMessage, id: string): ThreadMessage {
  switch (message.role) {
    case 'user':
      return { id, role: 'user', content: userContent(message.text, message.images ?? []) };
    case 'assistant': {
      const { text, calls = [] } = message;
      const toolCalls = calls.map(({ callId, name, arguments: args }) => toolCall(callId, name, args));
      return { id, role: 'assistant', content: text, ...(toolCalls.length > 0 && { toolCalls }) };
    }
    case 'tool':
      return { id, role: 'tool', toolCallId: message.callId, content: message.text };
    default:
      return message satisfies never;
  }
}

function userContent(text: string, images: readonly Image[]): Content {
  if (images.length === 0) return text;
  return [
    ...images.map(({ mimeType, base64 }) => ({
      type: 'image' as const,
      source: { type: 'data' as const, value: base64, mimeType },
    })),
    ...(text === '' ? [] : [{ type: 'text' as const, text }]),
  ];
}
