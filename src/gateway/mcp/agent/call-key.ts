import { contentHash } from '../../../core/content-hash.ts';
import type { SessionId } from '../../../core/ids.ts';
import { JsonRpcError, RPC } from '../../../core/json-rpc.ts';
import type { IdempotencyKey } from '../../../core/request/request-events.ts';
import { IdempotencyKeyId } from '../../../wire/requests.ts';
import { idempotencyKey } from '../../requests/idempotency-key.ts';
import type { McpCall } from '../mcp-call.ts';
import { newConversation, ownConversation } from './conversation.ts';

/** The field of `_meta` with the idempotency key of a call. */
export const CALL_KEY = 'agent-service/idempotencyKey';

/** @throws JsonRpcError if the call has a key that cannot be one. */
export function keyIdOf({ meta }: McpCall): string | undefined {
  const { data, error } = IdempotencyKeyId.optional().safeParse(meta[CALL_KEY]);
  if (!error) return data;
  const issue = error.issues.map(({ message }) => message).join(', ');
  const field = `_meta.${CALL_KEY}`;
  throw new JsonRpcError(RPC.invalidParams, `The field ${field} is not valid: ${issue}.`, { field });
}

/** A key is one of MCP: another protocol may use the same id for another message. */
export function callKey(id: string, payload: unknown): Promise<IdempotencyKey> {
  return idempotencyKey(`mcp:${id}`, payload);
}

/** The conversation of a call that names none. A repeated call gets the same one. */
export async function conversationOf(call: McpCall): Promise<SessionId> {
  const id = keyIdOf(call);
  if (call.ownSessionId !== undefined || id === undefined) return ownConversation(call);
  return newConversation((await contentHash(id)).slice(0, 32));
}
