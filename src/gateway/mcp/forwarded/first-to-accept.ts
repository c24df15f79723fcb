import { JsonRpcError, RPC } from '../../../core/json-rpc.ts';
import type { ListedResource } from './public-uris.ts';

/**
 * Asks the servers that may have a resource, one after the other, until one does not refuse.
 *
 * @param servers the likeliest first.
 * @param address by which the client knows the resource.
 */
export async function firstToAccept<T>(
  servers: readonly ListedResource[],
  address: string,
  ask: (server: ListedResource) => Promise<T>,
): Promise<T> {
  let refusal: unknown;
  for (const server of servers) {
    try {
      return await ask(server);
    } catch (error) {
      // The next server may have it. The first one's refusal says most: it was likeliest to have it.
      if (!(error instanceof JsonRpcError)) throw error;
      refusal ??= error;
    }
  }
  throw refusal ?? new JsonRpcError(RPC.invalidParams, `Resource ${address} not found`, { uri: address });
}
