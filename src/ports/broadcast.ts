/** Sends one text to many sockets at little more than the cost of one. `ClientSocket.subscribe` adds a socket. */
export interface Broadcast {
  /** Longest text for `publish`. Send a longer text to each socket separately. */
  readonly maxCharacters: number;
  /** Sends one text frame to every current subscriber of the topic. */
  publish(topic: string, text: string): void;
}
