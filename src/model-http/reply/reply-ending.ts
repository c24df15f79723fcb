import type { TokenUsage } from '../../core/turn/reply-parts.ts';

/** How a reply ended, from the provider's finish reason. */
export type ReplyEnding = 'complete' | 'length' | 'filtered' | 'failed';

const COMPLETE = new Set([
  'stop',
  'stop_sequence',
  'stop_word',
  'eos',
  'eos_token',
  'end',
  'end_turn',
  'endoftext',
  'complete',
  'completed',
  'tool_calls',
  'tool_call',
  'tool_use',
  'function_call',
]);

/** Anthropic's reason where the conversation left too few tokens for the reply. */
const CONTEXT_IS_FULL = 'model_context_window_exceeded';

const LENGTH = new Set([
  'length',
  'max_tokens',
  'max_output_tokens',
  'max_length',
  'model_length',
  CONTEXT_IS_FULL,
]);

const FILTERED = /filter|safety|sensitive|refus|prohibit|recitation|block|spii|moderation|policy|risk/;

/**
 * Whether the length of the conversation ended the reply, and not the limit for its tokens.
 * @param usage of a reply that said nothing. Some servers count 0 tokens of any reply.
 */
export function endedByContext(reason: string | undefined, usage: TokenUsage | undefined): boolean {
  return reason === CONTEXT_IS_FULL || usage?.outputTokens === 0;
}

/** An unknown reason counts as a failure, because the reply may be incomplete. */
export function endingOf(reason: string): ReplyEnding {
  const name = reason.trim().toLowerCase();
  if (COMPLETE.has(name)) return 'complete';
  if (LENGTH.has(name)) return 'length';
  // Google's `function_call_filter: MALFORMED_FUNCTION_CALL` means a broken tool call, not a content filter.
  return FILTERED.test(name) && !name.includes('malformed') ? 'filtered' : 'failed';
}
