import type { JsonObject } from './json-object.ts';

/** Codes of JSON-RPC itself. */
export const RPC = {
  parseError: -32_700,
  /** In MCP also for what a client may not do. */
  invalidRequest: -32_600,
  methodNotFound: -32_601,
  /** In MCP also for a tool, a resource or a prompt that does not exist. */
  invalidParams: -32_602,
  internalError: -32_603,
} as const;

/** Codes of MCP and of its SDK. */
export const MCP_CODES = {
  /** A question of a tool server was rejected. */
  rejected: -1,
  /** "Server error" in JSON-RPC. The SDK answers it where no other code fits, such as for a closed connection. */
  serverError: -32_000,
  sessionNotFound: -32_001,
  /** The client has not declared what the request needs of it. Since 2026-07-28. */
  missingCapability: -32_021,
  unsupportedVersion: -32_022,
  /** A person must open an address before the request can be answered. In 2025-11-25. */
  urlElicitationRequired: -32_042,
} as const;

/** The error in an answer of JSON-RPC. */
export interface JsonRpcFailure {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** What JSON-RPC answers: a result, or an error. */
export type JsonRpcAnswer = { readonly result: JsonObject } | { readonly error: JsonRpcFailure };

/** An error of JSON-RPC: what a client or a tool server answers in place of a result, or is answered. */
export class JsonRpcError extends Error {
  override readonly name = 'JsonRpcError';
  /** See `RPC` and `MCP_CODES`. */
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}
