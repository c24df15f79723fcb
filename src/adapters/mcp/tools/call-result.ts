import { z } from 'zod';
import type { JsonObject } from '../../../core/json-object.ts';
import { shorten } from '../../../core/shorten.ts';
import type { ToolOutcome, ToolResult } from '../../../core/tool-call/tool.ts';
import { InvalidAnswerError } from '../peer/rpc-errors.ts';
import type { OutputCheck } from './output-check.ts';

const MAX_REASON_CHARACTERS = 2_000;

/** The answer to `tools/call`. It allows content types that the SDK does not know. */
const CallResult = z.object({
  content: z.array(z.looseObject({ type: z.string() })).nullish(),
  /** Any value since 2026-07-28, and an object before. */
  structuredContent: z.unknown().optional(),
  isError: z.boolean().nullish(),
});
type CallResult = z.infer<typeof CallResult>;

export function callResult(answer: JsonObject): CallResult {
  const parsed = CallResult.safeParse(answer);
  if (!parsed.success) throw new InvalidAnswerError(parsed.error);
  return parsed.data;
}

/** What became of a call that the server has answered. */
export async function toolOutcome(
  toolName: string,
  answer: CallResult,
  outputCheck: OutputCheck,
): Promise<ToolOutcome> {
  const result = toolResultOf(answer);
  if (answer.isError) return toolError(result);
  const problem = await outputCheck.problem(toolName, result);
  if (problem !== undefined) return { status: 'failed', reason: problem, result };
  return { status: 'succeeded', result };
}

/** Leaves out `_meta`: neither the model nor the log has a use for it. Some servers write null for no structured result. */
function toolResultOf({ content, structuredContent }: CallResult): ToolResult {
  const blocks = (content ?? []).map(({ _meta, ...block }) => block);
  const hasValue = structuredContent !== undefined && structuredContent !== null;
  return hasValue ? { content: blocks, structuredContent } : { content: blocks };
}

/** The outcome when the tool itself marks its answer as an error. */
function toolError(result: ToolResult): ToolOutcome {
  const texts = result.content.flatMap(({ type, text }) =>
    type === 'text' && typeof text === 'string' ? text : [],
  );
  const reason = texts.join('\n').trim() || 'the tool reported an error without a message';
  return { status: 'failed', reason: shorten(reason, MAX_REASON_CHARACTERS), result };
}
