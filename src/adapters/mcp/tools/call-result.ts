import { z } from 'zod';
import type { ToolOutcome, ToolResult } from '../../../core/tool-call/tool.ts';
import { shorten } from '../failure/shorten.ts';

const MAX_REASON_CHARACTERS = 2_000;

/** The answer to `tools/call`, with room for content types that this SDK does not know. */
export const CallResult = z.object({
  content: z.array(z.looseObject({ type: z.string() })).nullish(),
  structuredContent: z.record(z.string(), z.unknown()).nullish(),
  isError: z.boolean().nullish(),
});
export type CallResult = z.infer<typeof CallResult>;

/** `_meta` is between server and client; neither the model nor the log has a use for it. */
export function toolResultOf({ content, structuredContent }: CallResult): ToolResult {
  const blocks = (content ?? []).map(({ _meta, ...block }) => block);
  return structuredContent ? { content: blocks, structuredContent } : { content: blocks };
}

/** What a tool that calls its own answer an error has said. */
export function toolError(result: ToolResult): ToolOutcome {
  const texts = result.content.flatMap(({ type, text }) =>
    type === 'text' && typeof text === 'string' ? text : [],
  );
  const reason = texts.join('\n').trim() || 'the tool reported an error and said no more';
  return { status: 'failed', reason: shorten(reason, MAX_REASON_CHARACTERS), result };
}
