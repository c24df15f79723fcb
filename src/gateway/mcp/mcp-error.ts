import { ServiceError } from '../../core/errors.ts';
import { JsonRpcError, RPC } from '../../core/json-rpc.ts';

/** What a client gets of an error of a request. What the service refuses, such as for want of a scope, keeps its details. */
export function asMcpError(thrown: unknown): unknown {
  if (!(thrown instanceof ServiceError)) return thrown;
  const { code, message, details } = thrown.withoutTokens;
  return new JsonRpcError(
    code === 'INTERNAL_ERROR' ? RPC.internalError : RPC.invalidRequest,
    message,
    details,
  );
}
