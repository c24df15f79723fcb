import { RPC } from '../../core/json-rpc.ts';
import type { HttpResponse } from '../../ports/web-server.ts';
import { isInitialize, type McpBody } from './json-rpc-body.ts';
import { refusal } from './mcp-exchange.ts';

/** The first revision of MCP without batches of JSON-RPC. Revisions are dates, and compare as texts. */
const WITHOUT_BATCHES = '2025-06-18';

/** As the SDK has it, which would count them at the end. */
const MAX_MESSAGES = 100;

/** The refusal of a batch that is too large to be looked at; null for others, and for what is no batch. */
export function tooLargeBatch({ json }: McpBody): HttpResponse | null {
  if (!Array.isArray(json) || json.length <= MAX_MESSAGES) return null;
  return refused(`A batch must not exceed ${MAX_MESSAGES} messages.`);
}

/**
 * The refusal of a batch that the protocol does not allow; null for others, and for what is no batch.
 *
 * @param revision that the client names, or has agreed on; undefined if it has done neither.
 */
export function refusedBatch({ json }: McpBody, revision: string | undefined): HttpResponse | null {
  if (!Array.isArray(json)) return null;
  if (json.some(isInitialize)) return refused('initialize is sent alone, and not in a batch.');
  if (revision === undefined || revision < WITHOUT_BATCHES) return null;
  return refused(`MCP ${revision} has no batches: send each message in a request of its own.`);
}

function refused(message: string): HttpResponse {
  return refusal(400, RPC.invalidRequest, message);
}
