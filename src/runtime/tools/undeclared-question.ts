import type { JsonObject } from '../../core/json-object.ts';
import { JsonRpcError, MCP_CODES, RPC } from '../../core/json-rpc.ts';
import { missingCapability } from '../../core/tool-server/missing-capability.ts';
import type { ServerQuestion } from '../../core/tool-server/server-question.ts';
import type { ServerEra } from '../../ports/tool-server.ts';

/** Who would be asked, and the era of the server that asks. */
export interface AskedClient {
  /** MCP's `ClientCapabilities`. */
  readonly capabilities: JsonObject;
  readonly era: ServerEra;
}

/**
 * What the server is answered if the client has not declared that it can answer the question. Such a client would ignore
 * the question, and the call would wait for nothing. Null for a client that can be asked.
 */
export function refusalOfUndeclared(
  question: ServerQuestion,
  { capabilities, era }: AskedClient,
): JsonRpcError | null {
  const requiredCapabilities = missingCapability(question, capabilities);
  if (!requiredCapabilities) return null;
  if (era === 'stateless') {
    const message = 'Missing required client capability';
    return new JsonRpcError(MCP_CODES.missingCapability, message, { requiredCapabilities });
  }
  // With sessions, a mode that is missing is a wrong parameter of a known method.
  const isKnown = Object.keys(requiredCapabilities).some((name) => capabilities[name] !== undefined);
  const code = isKnown ? RPC.invalidParams : RPC.methodNotFound;
  const message = 'The client has not declared that it can answer this';
  return new JsonRpcError(code, message, { requiredCapabilities });
}
