/** One WebSocket as the gateway sees it. Calls on a closed socket do nothing. */
export interface ClientSocket {
  /** Sends one text frame. Buffered by the socket when the client does not read. */
  send(text: string): void;
  /** Bytes accepted by `send` that the client has not taken yet. */
  bufferedBytes(): number;
  /** Closes with a code after what is buffered has gone out. */
  end(code: number, reason: string): void;
  /** Closes now; what is buffered is lost. */
  terminate(): void;
}
