import { messageOf, ServiceError } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json-object.ts';
import type { PeerAnswer } from '../../core/tool-server/passed-request.ts';
import { ServerPeerError } from '../../core/tool-server/server-peer.ts';

/** Of JSON-RPC. */
export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
export const INTERNAL_ERROR = -32603;

/** What came of a request to a tool server, as data. Rejects only if the service itself refuses it. */
export async function peerAnswer(ask: () => Promise<JsonObject>): Promise<PeerAnswer> {
  try {
    return { result: await ask() };
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    if (!(error instanceof ServerPeerError))
      return { error: { code: INTERNAL_ERROR, message: messageOf(error) } };
    const { code, message, data } = error;
    return { error: { code, message, ...(data !== undefined && { data }) } };
  }
}
