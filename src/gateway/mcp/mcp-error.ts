import { ServiceError } from '../../core/errors.ts';

/** "Invalid params", also for a tool, resource or prompt that does not exist. */
export const INVALID_PARAMS = -32602;
/** "Invalid request", here for what this client may not do. */
export const INVALID_REQUEST = -32600;
export const INTERNAL_ERROR = -32603;

/** The client has not declared what the request needs of it. */
export const MISSING_CAPABILITY = -32021;

/** A JSON-RPC error, as clients get it. */
export class McpError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** What a client gets of an error of a request. What the service refuses, such as for want of a scope, keeps its details. */
export function asMcpError(thrown: unknown): unknown {
  if (!(thrown instanceof ServiceError)) return thrown;
  const { code, message, details } = thrown.withoutTokens;
  return new McpError(code === 'INTERNAL_ERROR' ? INTERNAL_ERROR : INVALID_REQUEST, message, details);
}
