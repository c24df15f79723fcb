/** One WebSocket as the gateway sees it. Calls on a closed socket do nothing. */
export interface ClientSocket {
  /** Sends one text frame. False when the client does not take it now and the socket keeps it. */
  send(text: string): boolean;
  /** Bytes that the socket keeps because the client has not taken them. */
  bufferedBytes(): number;
  /** Closes with a code, after what is kept has gone out. A client that does not take it within seconds loses it. */
  end(code: number, reason: string): void;
}
