import { isJSONRPCRequest, type JSONRPCRequest, type Transport } from '@modelcontextprotocol/server';
import { asMcpError, McpError } from '../mcp-error.ts';
import { LISTEN, listenedResources, type Watcher, watchResources } from './listened-resources.ts';

/**
 * Has the resources of subscriptions watched that come over a lasting connection. Over such a one, the SDK answers
 * `subscriptions/listen` by itself, and only picks what a subscription is about from what the server tells.
 *
 * @param transport one that the SDK already serves.
 */
export function watchListening(transport: Transport, watcher: Watcher): void {
  const serve = transport.onmessage;
  transport.onmessage = (message, extra) => {
    if (isJSONRPCRequest(message) && message.method === LISTEN) {
      const refusal = refusedListening(message, watcher);
      if (refusal) return answer(transport, message, { refusal, watcher });
    }
    serve?.(message, extra);
  };
}

function refusedListening(request: JSONRPCRequest, watcher: Watcher): McpError | null {
  try {
    watchResources(listenedResources(request), watcher);
    return null;
  } catch (thrown) {
    const error = asMcpError(thrown);
    if (error instanceof McpError) return error;
    throw error;
  }
}

function answer(transport: Transport, { id }: JSONRPCRequest, { refusal, watcher }: Refused): void {
  const { code, message, data } = refusal;
  transport.send({ jsonrpc: '2.0', id, error: { code, message, data } }).catch((err: unknown) => {
    watcher.log.debug({ err }, 'an MCP client could not be answered');
  });
}

interface Refused {
  readonly refusal: McpError;
  readonly watcher: Watcher;
}
