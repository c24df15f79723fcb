import type { RequestedCall } from '../../core/tool-call/tool-call-commands.ts';
import type { StepPart } from '../../core/turn/reply-parts.ts';
import type { ReplyPart } from '../../ports/language-model.ts';

/**
 * The parts of a reply that are recorded, in their order.
 *
 * @param calls the resolved tool calls of the reply, in the same order. Their ids may differ from the model's.
 */
export function replyParts(
  parts: readonly ReplyPart[],
  calls: readonly RequestedCall[],
  keepReasoning: boolean,
): StepPart[] {
  let next = 0;
  return parts.flatMap((part): StepPart[] => {
    switch (part.type) {
      case 'text':
      case 'refusal':
      case 'opaque':
        return [part];
      case 'reasoning':
        return keepReasoning ? [part] : [];
      case 'toolCall': {
        const call = calls[next];
        next += 1;
        if (!call) throw new Error('a tool call of the reply was not resolved');
        const { opaque } = part;
        return [{ type: 'toolCall', callId: call.callId, ...(opaque && { opaque }) }];
      }
      default:
        return part satisfies never;
    }
  });
}
