/** Says the same to many sockets at the cost of little more than one: `ClientSocket.subscribe` says to which. */
export interface Broadcast {
  /** Sends one text frame to every socket that is subscribed to the topic now. */
  publish(topic: string, text: string): void;
}
