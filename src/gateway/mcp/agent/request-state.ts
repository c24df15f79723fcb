import { z } from 'zod';
import { JsonRpcError, RPC } from '../../../core/json-rpc.ts';
import type { SecretBox } from '../../../ports/secret-box.ts';
import type { McpCall } from '../mcp-call.ts';

/** What a client brings back with its answers, so that the same turn goes on, on any node and after a restart. */
export interface ChatState {
  /** Of the turn. */
  readonly taskId: string;
  /** The keys of the questions that the client left to others. */
  readonly leftOpen: readonly string[];
}

const ChatState = z.object({ taskId: z.string(), leftOpen: z.array(z.string()) });

/** Encrypted for this client with the key of the service, so it cannot be forged or used by others. */
export function sealState(secrets: SecretBox, state: ChatState, call: McpCall): Promise<string> {
  return secrets.seal(JSON.stringify(state), ownerOf(call));
}

/** Throws an error of the protocol if the state is not one that this client was given. */
export async function openState(secrets: SecretBox, sealed: string, call: McpCall): Promise<ChatState> {
  try {
    return ChatState.parse(JSON.parse(await secrets.open(sealed, ownerOf(call))));
  } catch {
    throw new JsonRpcError(RPC.invalidParams, 'Invalid requestState: call the tool again without it.', {
      reason: 'invalid_request_state',
    });
  }
}

function ownerOf({ context: { tenant, principal, agent } }: McpCall): string {
  return JSON.stringify(['mcp-request-state', tenant, principal, agent]);
}
