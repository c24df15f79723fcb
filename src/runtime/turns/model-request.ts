import { outputInstructions } from '../../core/turn/output-format.ts';
import { modelSettings, type ToolChoice, type TurnOptions } from '../../core/turn/turn-options.ts';
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
  readonly options?: TurnOptions | undefined;
}

/** What the model is asked in a step. */
export function modelRequest(
  { turnId, step, conversation, said, options }: BeginningStep,
  turn: TurnDeps,
  { tools }: ToolOffer,
): ModelRequest {
  const origin = { turnId, step, said };
  if (!options) {
    const messages = shownConversation(conversation, turn);
    return { systemPrompt: turn.systemPrompt, messages, tools, origin };
  }
  const { instructions, toolChoice, output } = options;
  const settings = modelSettings(options);
  const form = output ? outputInstructions(output) : '';
  const systemPrompt = [turn.systemPrompt, instructions ?? '', form]
    .filter((text) => text !== '')
    .join('\n\n');
  const messages = shownConversation(conversation, { ...turn, systemPrompt });
  const choice = tools.length > 0 ? choiceIn(step, toolChoice) : undefined;
  const wanted = { ...(choice && { toolChoice: choice }), ...(output && { output }) };
  return { systemPrompt, messages, tools, settings, ...wanted, origin };
}

/** A model that had to use a tool in each step would never answer. */
function choiceIn(step: number, choice: ToolChoice | undefined): ToolChoice | undefined {
  return step === 1 || choice === 'none' ? choice : undefined;
}
