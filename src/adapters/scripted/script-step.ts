import type { ToolMessage, UserMessage } from '../../core/conversation/model-message.ts';
import type { ModelRequest } from '../../ports/language-model.ts';

/** What the scripted model does in one step. */
export interface ScriptStep {
  readonly text: string;
  readonly toolCalls: readonly {
    readonly name: string;
    readonly arguments: Readonly<Record<string, unknown>>;
  }[];
  /** Number of pieces; by default one per word. */
  readonly chunks?: number | undefined;
  readonly delayMs?: number;
  /** If set, the step fails with this reason after the text. */
  readonly fail?: string | undefined;
}

/** The state of the turn: the last message of the user, and the tool results since. */
export interface ScriptTurn {
  readonly user: UserMessage;
  readonly toolResults: readonly ToolMessage[];
}

export function currentTurn({ messages, origin }: ModelRequest): ScriptTurn {
  const start = messages.findLastIndex((message) => message.role === 'user');
  const last = messages[start];
  const user: UserMessage = last?.role === 'user' ? last : { role: 'user', text: '' };
  return {
    // Rules match the newest message only, not earlier messages without an answer. A turn that brings no message answers those.
    user:
      origin && !(origin.said === '' && start === messages.length - 1)
        ? { ...user, text: origin.said }
        : user,
    toolResults: messages.slice(start + 1).filter((message) => message.role === 'tool'),
  };
}
