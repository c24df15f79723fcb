/** A request, copied out of the web server: it stays valid for as long as it is needed. */
export interface HttpRequest {
  /** In capitals. */
  readonly method: string;
  /** The path as it was sent, still percent-encoded, without the query. */
  readonly path: string;
  readonly query: string;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  /** Address of the peer of the TCP connection. */
  readonly peerAddress: string;
  /** The whole body. Rejects with `RATE_LIMIT_EXCEEDED` beyond the limit on size, and reads no further. */
  body(): Promise<Uint8Array>;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** A stream is one of server-sent events, each chunk of it whole events. */
  readonly body: string | Uint8Array | ReadableStream<Uint8Array> | null;
  /** Called once it is written to its end, or its client has gone. */
  readonly onOver?: () => void;
}

/** The `timestamp` of a response: ISO 8601 UTC with milliseconds. */
export const now = (): string => new Date().toISOString();

/** `Body`, one of the contract's responses, is to be said: left out, nothing fits. */
export function jsonResponse<Body extends object = never>(
  body: NoInfer<Body>,
  status = 200,
  headers: Record<string, string> = {},
): HttpResponse {
  return {
    status,
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  };
}
