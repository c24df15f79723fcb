import type { ModelMessage } from './model-message.ts';
import { estimateTokens } from './token-estimate.ts';

/** From this many messages on, counting them anew in each step takes longer than remembering what was counted. */
const LONG = 100;

const known = new WeakMap<readonly ModelMessage[], number[]>();

/**
 * Tokens before each message, by an estimate, and at the end those of all messages: one number more than messages.
 * Valid until the messages change.
 * @param messages a transcript: it grows at its end, and is another list after any other change.
 */
export function tokenSums(messages: readonly ModelMessage[]): readonly number[] {
  const sums = known.get(messages) ?? [0];
  // The last message may have changed since: the calls of a step are added one by one.
  if (sums.length > 1) sums.pop();
  let sum = sums.at(-1) ?? 0;
  for (let index = sums.length - 1; index < messages.length; index += 1) {
    sum += estimateTokens(messages[index]);
    sums.push(sum);
  }
  if (messages.length >= LONG) known.set(messages, sums);
  return sums;
}
