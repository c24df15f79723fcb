/** How a reply ended, from what the provider calls it. */
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

/** A reason that nobody knows counts as a failure: a reply that may not be whole is not passed off as one. */
export function endingOf(reason: string): ReplyEnding {
  const name = reason.trim().toLowerCase();
  if (COMPLETE.has(name)) return 'complete';
  if (LENGTH.has(name)) return 'length';
  // Google's `function_call_filter: MALFORMED_FUNCTION_CALL` is no content filter: the call was broken.
  return FILTERED.test(name) && !name.includes('malformed') ? 'filtered' : 'failed';
}
