import { z } from 'zod';
import { ServiceError } from '../../../core/errors.ts';
import type { HttpResponse } from '../../../ports/web-server.ts';
import { jsonResponse, type ServedRequest } from '../../http/http-message.ts';
import { keyOfRequest } from '../../http/idempotency-header.ts';
import { readJsonObject } from '../../http/request-body.ts';
import { checkBodySize } from '../../requests/message-size.ts';
import { parseForeign } from '../../requests/request-fields.ts';
import { withModel } from '../chosen-agent.ts';
import type { AskedResponse } from './asked-response.ts';
import { CompactionItem, compactionItem } from './compaction-item.ts';
import { imagesLength } from './input-images.ts';
import { CompactRequest, type InputItem } from './response-request.ts';
import { beginResponse } from './response-turn.ts';
import { ResponseUsage } from './response-usage.ts';
import { type ResponsesDeps, whole } from './whole-response.ts';

export const CompactedResponse = z.object({
  id: z.string(),
  object: z.literal('response.compaction'),
  created_at: z.int().describe('Unix seconds.'),
  output: z.array(CompactionItem),
  usage: ResponseUsage.nullable(),
});
export type CompactedResponse = z.infer<typeof CompactedResponse>;

const WANTED =
  'Summarize our conversation so far, so that it can be continued from the summary alone. Keep facts, names, numbers, decisions, results of tools and open questions. Reply with the summary alone.';

/** Has the model summarize a conversation, in a session that is deleted afterwards. The agent's tools are not used. */
export async function compactConversation(
  deps: ResponsesDeps,
  request: ServedRequest,
): Promise<HttpResponse> {
  const { bus, maxImageBytes } = deps;
  const sent = parseForeign(CompactRequest, await readJsonObject(request));
  await checkBodySize(request, maxImageBytes, () => imagesLength(sent));
  if (sent.input === undefined && sent.previous_response_id === undefined) throw nothingToCompact();
  const context = await withModel(bus, request, sent.model);
  const input = [...itemsOf(sent.input), userItem(WANTED)];
  const body = { ...sent, input, store: false, tool_choice: 'none' as const };
  const key = await keyOfRequest(request, sent);
  const who = { bus, context, credential: request.credential, request };
  const asked: AskedResponse = { ...who, body, agentId: sent.model, key, maxImageBytes };
  const begun = await beginResponse(asked);
  const { id, created_at, output, usage } = await whole(deps, asked, begun);
  const summary = output.flatMap((item) =>
    item.type === 'message' ? item.content.map(({ text }) => text) : [],
  );
  return jsonResponse<CompactedResponse>({
    id,
    object: 'response.compaction',
    created_at,
    usage,
    output: [compactionItem(begun.place.turnId, summary.join('\n\n'))],
  });
}

function itemsOf(input: string | readonly InputItem[] | undefined): readonly InputItem[] {
  if (input === undefined) return [];
  return typeof input === 'string' ? [userItem(input)] : input;
}

function userItem(content: string): InputItem {
  return { type: 'message', role: 'user', content };
}

function nothingToCompact(): ServiceError {
  return new ServiceError('MISSING_FIELD', 'The field input is required.', {
    field: 'input',
    suggestion: 'Send the conversation as input, or a previous_response_id.',
  });
}
