import { ServiceError } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json-object.ts';
import { type JsonRpcAnswer, JsonRpcError, RPC } from '../../core/json-rpc.ts';
import { messageOf } from '../../core/thrown.ts';

/** What came of a request to a tool server, as data. Rejects only if the service itself refuses it. */
export async function peerAnswer(ask: () => Promise<JsonObject>): Promise<JsonRpcAnswer> {
  try {
    return { result: await ask() };
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    if (!(error instanceof JsonRpcError))
      return { error: { code: RPC.internalError, message: messageOf(error) } };
    const { code, message, data } = error;
    return { error: { code, message, ...(data !== undefined && { data }) } };
  }
}
