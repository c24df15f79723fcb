import type { ReceivedMessage } from './peer/received-message.ts';
import type { RequestId, RpcMessage } from './peer/rpc-message.ts';

export interface SendOptions {
  /** Aborting takes the message back, where the transport has a stream for each request. */
  readonly signal?: AbortSignal;
  /** Headers of HTTP for this message. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The message is of a stateless era. Then the body of an HTTP error may be the answer. */
  readonly stateless?: boolean;
}

/** Carries messages to a server and back, and knows why it ended. `close` may be called twice and never rejects. */
export interface ServerTransport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  /** `about` is the request on whose stream the message came, where the transport has a stream for each request. */
  onmessage?: (message: ReceivedMessage, about?: RequestId) => void;
  /** Called when a new stream for notifications is open. The server sent nothing of what happened before. */
  onstream?: () => void;
  /** No answer to this request can come any more, because of the error if there is one. */
  onlost?: (id: RequestId, error?: Error) => void;
  /** Whether each request has a stream of its own. */
  readonly hasRequestStreams?: boolean;
  /** Whether the server is a process that has exited by itself. */
  readonly hasExited?: boolean;
  /** For people and without secrets. Set before `onclose` when the connection ended without `close`. */
  readonly endReason: string | undefined;
  /** Must be called before the first message. */
  start(): Promise<void>;
  /** Rejects if the message cannot have arrived. */
  send(message: RpcMessage, options?: SendOptions): Promise<void>;
  /** Called with the revision of MCP that both ends speak. */
  setProtocolVersion?(version: string): void;
  close(): Promise<void>;
  /** Ends the connection for this reason. Does nothing on a transport that has ended. */
  fail(reason: string): void;
  /** The reason, followed by what the server itself wrote about it. */
  explain(reason: string): string;
}
