import { RPC } from '../../../core/json-rpc.ts';
import type { HttpResponse } from '../../../ports/web-server.ts';
import type { McpBody } from '../json-rpc-body.ts';
import { refusal } from '../mcp-exchange.ts';

/** Most characters of an `initialize`: a session keeps what its client says of itself, which may have icons in base64. */
const MAX_CHARACTERS = 262_144;

/** The refusal of an `initialize` that is too long; null for others. */
export function tooLongInitialize({ text }: McpBody): HttpResponse | null {
  if (text.length <= MAX_CHARACTERS) return null;
  const message = `initialize must not exceed ${MAX_CHARACTERS} characters. Send shorter capabilities and clientInfo.`;
  return refusal(400, RPC.invalidRequest, message);
}
