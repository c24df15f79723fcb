import type { ModelMessage, UserMessage } from './model-message.ts';
import { estimateTokens } from './token-estimate.ts';
import { tokenSums } from './token-sums.ts';
import { beginOfTurn, isUsersOwn } from './transcript.ts';

/** How much of a long window is left out at once. */
const STEP = 1 / 4;
/** Shorter windows leave out no more than they must. Providers cache prompts from 1,024 tokens on, some from 4,096. */
const LONG_WINDOW_TOKENS = 4_096;

/**
 * The newest part of a conversation that fits into `maxTokens`, by an estimate. If anything is left out, it begins with a
 * message of the user. It always has the user's last message and the newest step, however large, and no tool call without
 * its result.
 *
 * The beginning of a long window moves in steps: when the conversation no longer fits, as many quarters of `maxTokens`
 * are left out as are needed. Until the next step each window begins like the one before, so that providers find it in
 * their prompt caches.
 * @param next follows the messages.
 */
export function transcriptWindow(
  messages: readonly ModelMessage[],
  maxTokens: number,
  next?: UserMessage,
): ModelMessage[] {
  const sums = tokenSums(messages);
  const lastUser = next ? messages.length : beginOfTurn(messages);
  const ofLastUser = estimateTokens(next ?? messages[lastUser]);
  const total = (sums[messages.length] ?? 0) + (next ? ofLastUser : 0);
  const leftOut = inSteps(total - maxTokens, maxTokens);
  const endsBeforeLastUser = leftOut <= (sums[lastUser] ?? -1);
  const window = endsBeforeLastUser
    ? messages.slice(leftOut === 0 ? 0 : userFrom(messages, firstReaching(sums, leftOut)))
    : [
        ...messages.slice(lastUser, lastUser + 1),
        ...stepsFrom(messages, lastUser + 1, firstReaching(sums, leftOut + ofLastUser)),
      ];
  if (next) window.push(next);
  return window;
}

function inSteps(excess: number, maxTokens: number): number {
  if (excess <= 0) return 0;
  if (maxTokens < LONG_WINDOW_TOKENS) return excess;
  const step = Math.floor(maxTokens * STEP);
  return Math.ceil(excess / step) * step;
}

/** Index of the first message with at least so many tokens before it. */
function firstReaching(sums: readonly number[], tokens: number): number {
  let low = 0;
  let high = sums.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sums[middle] ?? 0) < tokens) low = middle + 1;
    else high = middle;
  }
  return low;
}

function userFrom(messages: readonly ModelMessage[], from: number): number {
  let begin = from;
  while (begin < messages.length && !isUsersOwn(messages[begin])) begin += 1;
  return begin;
}

/**
 * The steps of a turn from an index on. A reply and what answers it are one step. The newest one is always among them: a
 * model that does not see the results of its last calls would repeat the calls for ever.
 */
function stepsFrom(messages: readonly ModelMessage[], first: number, from: number): readonly ModelMessage[] {
  let newest = messages.length - 1;
  while (newest > first && messages[newest]?.role !== 'assistant') newest -= 1;
  let begin = Math.min(from, newest);
  while (begin < newest && messages[begin]?.role !== 'assistant') begin += 1;
  return messages.slice(Math.max(first, begin));
}
