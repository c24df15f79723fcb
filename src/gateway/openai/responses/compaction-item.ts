import { z } from 'zod';
import { ServiceError } from '../../../core/errors.ts';

/** Stands for a conversation that was summarized. A client passes it on as it is. */
export const CompactionItem = z.object({
  type: z.literal('compaction'),
  id: z.string(),
  encrypted_content: z
    .string()
    .describe('The summary, in base64url: it is what the client itself has said and heard.'),
});
export type CompactionItem = z.infer<typeof CompactionItem>;

const BEFORE = 'What was said before, in short: ';

/** @param turnId of the turn that made the summary. */
export function compactionItem(turnId: string, summary: string): CompactionItem {
  const content = Buffer.from(BEFORE + summary).toString('base64url');
  return { type: 'compaction', id: `cmp_${turnId}`, encrypted_content: content };
}

/** What the model is told in place of the conversation. Throws if the service did not write it. @param field names the content. */
export function summaryIn(content: string, field: string): string {
  const text = Buffer.from(content, 'base64url').toString();
  if (text.startsWith(BEFORE)) return text;
  throw new ServiceError('INVALID_REQUEST', 'A compaction must be one of this service.', {
    field,
    issue: 'it is not a summary',
    suggestion: 'Send the output of POST /v1/responses/compact as it came.',
  });
}
