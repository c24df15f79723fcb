/** One WebSocket as the gateway sees it. Calls on a closed socket do nothing. */
export interface ClientSocket {
  /** Sends one text frame. False when the client does not take it now and the socket keeps it. */
  send(text: string): boolean;
  /** From now on it gets what is published on the topic (`Broadcast`), too, in the order of the calls. */
  subscribe(topic: string): void;
  /** What was published before still comes. */
  unsubscribe(topic: string): void;
  /** Bytes that the socket keeps because the client has not taken them. */
  bufferedBytes(): number;
  /** Closes with a code, after what is kept has gone out. A client that does not take it within seconds loses it. */
  end(code: number, reason: string): void;
}
