import { isJSONRPCRequest, type JSONRPCRequest, type Transport } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { JsonRpcError } from '../../../core/json-rpc.ts';
import type { Unsubscribe } from '../../../ports/bus.ts';
import { asMcpError } from '../mcp-error.ts';
import { LISTEN, listenedResources, type Watcher, watchResources } from './listened-resources.ts';

/**
 * Has the resources of subscriptions watched that come over a lasting connection. Over such a one, the SDK answers
 * `subscriptions/listen` by itself, and only picks what a subscription is about from what the server tells.
 *
 * @param transport one that the SDK already serves.
 */
export function watchListening(transport: Transport, watcher: Watcher): void {
  const serve = transport.onmessage;
  const closed = transport.onclose;
  const watching = new Map<unknown, Unsubscribe>();
  transport.onmessage = (message, extra) => {
    if (isJSONRPCRequest(message) && message.method === LISTEN) {
      const listening = listen(message, watcher);
      if (listening instanceof JsonRpcError)
        return answer(transport, message, { refusal: listening, watcher });
      watching.get(message.id)?.();
      watching.set(message.id, listening);
    }
    const { data } = Cancelled.safeParse(message);
    if (data) {
      watching.get(data.params.requestId)?.();
      watching.delete(data.params.requestId);
    }
    serve?.(message, extra);
  };
  transport.onclose = () => {
    for (const stop of watching.values()) stop();
    closed?.();
  };
}

const Cancelled = z.object({
  method: z.literal('notifications/cancelled'),
  params: z.object({ requestId: z.union([z.string(), z.number()]) }),
});

/** @returns what ends the watching, or why there is none. */
function listen(request: JSONRPCRequest, watcher: Watcher): Unsubscribe | JsonRpcError {
  try {
    return watchResources(listenedResources(request), watcher);
  } catch (thrown) {
    const error = asMcpError(thrown);
    if (error instanceof JsonRpcError) return error;
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
  readonly refusal: JsonRpcError;
  readonly watcher: Watcher;
}
