import type { RequestedCall } from '../../core/tool-call/tool-call-commands.ts';
import type { CompleteStep } from '../../core/turn/turn-commands.ts';
import type { TurnOptions } from '../../core/turn/turn-options.ts';
import type { ModelReply } from '../../ports/language-model.ts';
import { replyParts } from './reply-parts.ts';
import type { TurnDeps } from './turn-deps.ts';

type Recording = Pick<TurnDeps, 'model' | 'keepReasoning'>;

/** What is kept of a reply to a client with these options. */
export function keeping({ model, keepReasoning }: Recording, options: TurnOptions | undefined): Recording {
  return { model, keepReasoning: keepReasoning || options?.keepReasoning === true };
}

/**
 * What a whole reply of the model means for its turn.
 * @param calls the resolved tool calls of the reply, in the same order.
 */
export function completedStep(
  { turnId, step }: Pick<CompleteStep, 'turnId' | 'step'>,
  { parts, finishReason, usage }: ModelReply,
  calls: readonly RequestedCall[],
  { model, keepReasoning }: Recording,
): CompleteStep {
  return {
    type: 'step.complete',
    turnId,
    step,
    parts: replyParts(parts, calls, keepReasoning),
    calls,
    source: model.source,
    ...(finishReason && { finishReason }),
    ...(usage && { usage }),
  };
}
