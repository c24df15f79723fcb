/** An error of JSON-RPC: what a tool server answers in place of a result, or is answered. */
export class ServerPeerError extends Error {
  override readonly name = 'ServerPeerError';
  /** A code of JSON-RPC, such as -32602 for parameters that are not valid. */
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}
