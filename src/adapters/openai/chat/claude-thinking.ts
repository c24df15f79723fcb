import type { ModelMessage } from '../../../core/conversation/model-message.ts';
import { claudeModel } from '../../../model-http/provider/claude-model.ts';
import type { ModelRequest } from '../../../ports/language-model.ts';

/** The fields in which gateways give Claude's signed thinking, and take it back: LiteLLM's and OpenRouter's. */
const SIGNED = ['thinking_blocks', 'reasoning_details'] as const;

/**
 * Whether a request may ask its model to think. A gateway passes on what Claude refuses:
 *
 * - to think while it must use a tool: https://github.com/mastra-ai/mastra/issues/7507
 * - to think within a budget in a turn that has begun without signed thinking, as when another model began it or the gateway
 *   gave none. Such a turn ends without thinking. https://github.com/anomalyco/opencode/issues/3077,
 *   https://github.com/OpenRouterTeam/ai-sdk-provider/issues/162
 */
export function mayThink(model: string, { messages, toolChoice }: ModelRequest): boolean {
  const { isClaude, thinking } = claudeModel(model);
  if (!isClaude) return true;
  if (toolChoice === 'required' || typeof toolChoice === 'object') return false;
  return thinking === 'adaptive' || beginsWithThinking(messages);
}

function beginsWithThinking(messages: readonly ModelMessage[]): boolean {
  const turn = messages.findLastIndex(({ role }) => role === 'user');
  const first = messages[turn + 1];
  if (first?.role !== 'assistant') return true;
  return first.parts.some((part) => part.type === 'opaque' && SIGNED.some((field) => field in part.data));
}
