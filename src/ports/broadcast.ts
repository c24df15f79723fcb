/** Says the same to many sockets at the cost of little more than one: `ClientSocket.subscribe` says to which. */
export interface Broadcast {
  /** What is longer is to be sent to each socket by itself. */
  readonly maxCharacters: number;
  /** Sends one text frame to every socket that is subscribed to the topic now. */
  publish(topic: string, text: string): void;
}
