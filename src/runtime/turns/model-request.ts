import type { ModelRequest } from '../../ports/language-model.ts';
import type { ToolOffer } from '../../ports/turn-tools.ts';
import { type Conversation, shownConversation } from './shown-conversation.ts';
import type { TurnDeps } from './turn-deps.ts';

/** A step, and the conversation at its beginning. */
export interface BeginningStep {
  readonly turnId: string;
  readonly step: number;
  readonly conversation: Conversation;
  /** The user's text of this turn. */
  readonly said: string;
}

/** What the model is asked in a step. */
export function modelRequest(
  { turnId, step, conversation, said }: BeginningStep,
  turn: TurnDeps,
  { tools }: ToolOffer,
): ModelRequest {
  const messages = shownConversation(conversation, turn);
  return { systemPrompt: turn.systemPrompt, messages, tools, origin: { turnId, step, said } };
}
