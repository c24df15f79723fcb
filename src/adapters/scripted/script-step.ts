import type { ToolMessage, UserMessage } from '../../core/conversation/model-message.ts';
import type { ModelRequest } from '../../ports/language-model.ts';

/** What the scripted model is about to do in one step. */
export interface ScriptStep {
  readonly text: string;
  readonly toolCalls: readonly {
    readonly name: string;
    readonly arguments: Readonly<Record<string, unknown>>;
  }[];
  /** Number of pieces; one a word when left out. */
  readonly chunks?: number | undefined;
  readonly delayMs?: number;
  /** Reason to fail with after the text. */
  readonly fail?: string | undefined;
}

/** Where the turn stands: what the user said last, and what the tools have answered since. */
export interface ScriptTurn {
  readonly user: UserMessage;
  readonly toolResults: readonly ToolMessage[];
}

export function currentTurn({ messages, origin }: ModelRequest): ScriptTurn {
  const start = messages.findLastIndex((message) => message.role === 'user');
  const last = messages[start];
  const user: UserMessage = last?.role === 'user' ? last : { role: 'user', text: '' };
  return {
    // A rule is for one message, not for those that got no answer before it.
    user: origin ? { ...user, text: origin.said } : user,
    toolResults: messages.slice(start + 1).filter((message) => message.role === 'tool'),
  };
}
