import { createHash } from 'node:crypto';
import type { RedactedThinkingBlockParam, ThinkingBlockParam } from '@anthropic-ai/sdk/resources/messages';
import { isJsonObject } from '../../core/json-object.ts';
import type { ClaudeModel } from '../../model-http/provider/claude-model.ts';

/** Thinking as the model sent it. It must go back to the model unchanged or not at all. */
export type ThinkingBlock = ThinkingBlockParam | RedactedThinkingBlockParam;

export function isThinkingBlock(block: unknown): block is ThinkingBlock {
  if (!isJsonObject(block)) return false;
  if (block.type === 'redacted_thinking') return typeof block.data === 'string';
  return block.type === 'thinking' && typeof block.thinking === 'string';
}

/** Whether the model takes the block back. Claude refuses thinking without a signature; others do not sign theirs. */
export function isReturned(block: ThinkingBlock, { isClaude }: Pick<ClaudeModel, 'isClaude'>): boolean {
  return !isClaude || block.type === 'redacted_thinking' || Boolean(block.signature);
}

/** Far more than all running turns together have. */
const MAX_BLOCKS = 4_096;

/**
 * Remembers the prefix of each thinking block: a digest of the request that it answered. Newer models refuse a
 * block whose prefix has changed, as when the window of a long conversation moves within a turn.
 * https://platform.claude.com/docs/en/build-with-claude/preserved-thinking
 */
export class ThinkingPrefixes {
  readonly #prefixes = new Map<string, string>();

  remember(block: ThinkingBlock, prefix: string): void {
    this.#prefixes.set(keyOf(block), prefix);
    if (this.#prefixes.size <= MAX_BLOCKS) return;
    for (const oldest of this.#prefixes.keys()) {
      this.#prefixes.delete(oldest);
      break;
    }
  }

  /** An unknown block, as after a restart, is assumed to fit. */
  fits(block: ThinkingBlock, prefix: string): boolean {
    const known = this.#prefixes.get(keyOf(block));
    return known === undefined || known === prefix;
  }
}

/** A digest, because the signature itself has thousands of characters. */
function keyOf(block: ThinkingBlock): string {
  const text = block.type === 'thinking' ? block.signature : block.data;
  return createHash('sha1').update(text).digest('base64');
}
