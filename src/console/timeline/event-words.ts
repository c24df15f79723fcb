import { visible } from '../../core/visible.ts';
import type { TimedEvent } from '../service/timed-event.ts';
import { actorText, causeText } from '../ui/event-origin.ts';
import { usageText } from '../ui/token-usage.ts';

export const eventKinds = ['messages', 'steps', 'tools', 'approvals', 'control'] as const;
export type EventKind = (typeof eventKinds)[number];

export function kindOf({ event }: TimedEvent): EventKind {
  switch (event) {
    case 'message':
    case 'response':
    case 'extended':
      return 'messages';
    case 'thinking':
    case 'chunk':
    case 'stepCompleted':
    case 'outputRejected':
      return 'steps';
    case 'toolCall':
    case 'clientToolCall':
    case 'sampled':
    case 'toolResult':
      return 'tools';
    case 'toolApproval':
    case 'toolApproved':
    case 'inputRequired':
    case 'inputAnswered':
    case 'queued':
      return 'approvals';
    case 'turnResumed':
    case 'error':
    case 'reset':
    case 'renamed':
    case 'described':
    case 'forked':
    case 'deleted':
      return 'control';
    default:
      return event satisfies never;
  }
}

/** One line about the event, for people. */
export function summaryOf(event: TimedEvent): string {
  switch (event.event) {
    case 'message':
    case 'response':
    case 'chunk':
      return shorten(event.data.content);
    case 'thinking':
      return 'the turn begins';
    case 'turnResumed':
      return `resumed after a restart, attempt ${event.data.attempt}`;
    case 'stepCompleted': {
      const { step, callIds, content, finishReason } = event.data;
      const { length } = callIds;
      const calls = length === 0 ? '' : ` asks for ${length} tool ${length === 1 ? 'call' : 'calls'}`;
      const cut = finishReason === 'length' ? ' ended at the token limit' : '';
      return shorten(`step ${step}${calls}${cut} ${content}`);
    }
    case 'toolCall':
    case 'clientToolCall':
    case 'toolApproval':
      return shorten(`${event.data.toolName} ${visible(JSON.stringify(event.data.arguments))}`);
    case 'toolApproved':
    case 'sampled':
      return event.data.toolName;
    case 'inputRequired':
      return shorten(`${event.data.toolName} asks: ${event.data.message}`);
    case 'inputAnswered': {
      const { toolName, action, content } = event.data;
      return shorten(`${toolName} ${action} ${content ? JSON.stringify(content) : ''}`);
    }
    case 'queued':
      return shorten(event.data.message);
    case 'toolResult':
      return event.data.error !== undefined
        ? shorten(`${event.data.toolName} failed: ${event.data.error}`)
        : shorten(`${event.data.toolName} ${textOf(event.data.result.content)}`);
    case 'error': {
      const { code, message, details } = event.data;
      return shorten(`${code}: ${typeof details.reason === 'string' ? details.reason : message}`);
    }
    case 'outputRejected':
      return shorten(`step ${event.data.step} does not fit: ${event.data.issue}`);
    case 'reset':
      return 'the conversation starts over';
    case 'renamed':
      return event.data.title ?? 'the title is made from the first message again';
    case 'described':
      return shorten(JSON.stringify(event.data.metadata));
    case 'extended':
      return shorten(event.data.messages.map(({ content }) => content).join(' '));
    case 'forked':
      return `from ${event.data.from} at event ${event.data.at}`;
    case 'deleted':
      return 'the session was deleted';
    default:
      return event satisfies never;
  }
}

/** Who did it and why, as far as the log says. Events of version 0.1.0 have neither. */
export function originFactsOf({ actor, cause }: TimedEvent): string[] {
  return [...(actor ? [actorText(actor)] : []), ...(cause ? [causeText(cause)] : [])];
}

/** The model, the tokens and the finish reason of the model call that the event ends. */
export function callFactsOf(event: TimedEvent): string[] {
  if (event.event !== 'stepCompleted') return [];
  const { model, usage, finishReason } = event.data;
  const facts = [model, usage && usageText(usage), finishReason && `finish reason: ${finishReason}`];
  return facts.filter((fact) => fact !== undefined);
}

const MAX_CHARACTERS = 160;

function shorten(text: string): string {
  const line = text
    .slice(0, MAX_CHARACTERS * 2)
    .replace(/\s+/g, ' ')
    .trim();
  return line.length > MAX_CHARACTERS ? `${line.slice(0, MAX_CHARACTERS)}…` : line;
}

function textOf(blocks: readonly { readonly text?: unknown; readonly type: string }[]): string {
  return blocks.map(({ text, type }) => (typeof text === 'string' ? text : `[${type}]`)).join(' ');
}
