import { modelConversation } from '../../core/conversation/model-conversation.ts';
import type { ModelMessage, UserMessage } from '../../core/conversation/model-message.ts';
import { cautionAfter, refusedIn, type Told } from '../../core/conversation/refusals.ts';
import { estimateText, estimateTokens } from '../../core/conversation/token-estimate.ts';
import { transcriptWindow } from '../../core/conversation/transcript-window.ts';
import { ServiceError } from '../../core/errors.ts';
import type { SessionState } from '../../core/session/session-state.ts';
import type { TurnDeps } from './turn-deps.ts';

/** The messages since the last reset, and what was refused of them. */
export interface Conversation extends Told {
  /** A message that is not in the transcript yet. */
  readonly next?: UserMessage;
}

type ShowingDeps = Pick<TurnDeps, 'model' | 'systemPrompt' | 'historyTokens'>;

/** The conversation as the model is shown it: the newest part that fits, in a form that every provider takes. */
export function shownConversation(
  { transcript, refusals, next }: Conversation,
  { model, systemPrompt, historyTokens }: ShowingDeps,
): ModelMessage[] {
  const maxTokens = historyTokens - estimateText(systemPrompt);
  const window = transcriptWindow(transcript, Math.min(maxTokens, refusals.maxTokens ?? maxTokens), next);
  return modelConversation(window, { source: model.source, caution: cautionAfter(refusals) });
}

/** Adds to a refusal for length how much the model was shown: the next turn shows it less. */
export function withShownTokens(error: ServiceError, state: SessionState, deps: ShowingDeps): ServiceError {
  if (refusedIn(error) !== 'context' || 'shownTokens' in error.details) return error;
  const shown = shownConversation(state, deps);
  const shownTokens = shown.reduce((sum, message) => sum + estimateTokens(message), 0);
  return new ServiceError(error.code, error.message, { ...error.details, shownTokens }, error.cause);
}
