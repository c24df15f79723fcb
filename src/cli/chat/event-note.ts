import type { styleText } from 'node:util';
import type { StreamEvent } from '../../client/session-client.ts';
import type { ErrorBody } from '../../core/errors.ts';
import { shorten } from '../../core/shorten.ts';
import { toolResultText } from '../../core/tool-call/tool-result-text.ts';
import { visible } from '../../core/visible.ts';

export interface Note {
  readonly text: string;
  readonly style: Parameters<typeof styleText>[0];
}

const MAX_SHOWN = 160;
const CUT: Note = {
  text: 'the reply ended at the token limit; raise llm.maxTokens, or ask to continue',
  style: 'yellow',
};

const ANSWERS = { accept: 'answered', decline: 'declined', cancel: 'not answered' } as const;

/** The line to show for an event; null for an event that needs none, or whose text is shown piece by piece. */
export function eventNote(event: StreamEvent): Note | null {
  switch (event.event) {
    case 'toolCall':
      return {
        text: `→ ${event.data.toolName} ${shortLine(visible(JSON.stringify(event.data.arguments)))}`,
        style: 'cyan',
      };
    case 'toolApproved':
      return { text: `→ ${event.data.toolName} may run`, style: 'cyan' };
    case 'clientToolCall':
      return { text: `→ ${event.data.toolName} waits for the client that lent it`, style: 'yellow' };
    case 'inputAnswered':
      return { text: `→ ${event.data.toolName}: ${ANSWERS[event.data.action]}`, style: 'dim' };
    case 'sampled':
      return { text: `→ the server of ${event.data.toolName} asked the model`, style: 'dim' };
    case 'toolResult':
      return event.data.error !== undefined
        ? { text: `← ${event.data.toolName} failed: ${shortLine(event.data.error)}`, style: 'red' }
        : { text: `← ${shortLine(toolResultText(event.data.result))}`, style: 'dim' };
    case 'error':
      return failureNote(event.data);
    case 'queued':
      return { text: event.data.message, style: 'yellow' };
    case 'turnResumed':
      return { text: 'the service came back; this part of the reply begins anew', style: 'yellow' };
    case 'outputRejected':
      return { text: `the reply does not fit: ${event.data.issue}`, style: 'yellow' };
    case 'reset':
      return { text: 'the conversation begins anew', style: 'yellow' };
    case 'deleted':
      return { text: 'the session was deleted', style: 'yellow' };
    case 'response':
      return event.data.finishReason === 'length' ? CUT : null;
    case 'chunk':
    case 'message':
    case 'thinking':
    case 'toolApproval':
    case 'inputRequired':
    case 'stepCompleted':
    case 'renamed':
    case 'described':
    case 'extended':
    case 'forked':
      return null;
    default:
      return event satisfies never;
  }
}

/** Why there is no reply. */
export function failureNote({ code, message, details }: ErrorBody): Note {
  if (code === 'TURN_CANCELLED') return { text: 'cancelled', style: 'yellow' };
  const { reason, suggestion } = details;
  const more = [reason, suggestion].filter((text) => typeof text === 'string').map((text) => ` ${text}`);
  return { text: `${message}${more.join('')} (${code})`, style: 'red' };
}

function shortLine(text: string): string {
  return shorten(text.trim().replaceAll(/\s+/g, ' '), MAX_SHOWN);
}
