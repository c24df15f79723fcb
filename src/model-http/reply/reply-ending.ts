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

const LENGTH = new Set([
  'length',
  'max_tokens',
  'max_output_tokens',
  'max_length',
  'model_length',
  'model_context_window_exceeded',
]);

const FILTERED = /filter|safety|sensitive|refus|prohibit|recitation|block|spii|moderation|policy|risk/;

/** An unknown reason counts as a failure, because the reply may be incomplete. */
export function endingOf(reason: string): ReplyEnding {
  const name = reason.trim().toLowerCase();
  if (COMPLETE.has(name)) return 'complete';
  if (LENGTH.has(name)) return 'length';
  // Google's `function_call_filter: MALFORMED_FUNCTION_CALL` means a broken tool call, not a content filter.
  return FILTERED.test(name) && !name.includes('malformed') ? 'filtered' : 'failed';
}
