/** What nodes of a cluster say to each other besides requests and sessions. Payloads are plain data. */
export interface Peers {
  /** Tells this cluster from others. Not secret: whoever sees the messages of the nodes sees it. */
  readonly clusterId: string;

  /** Tells all other nodes, as far as they can be reached. */
  tell(topic: string, payload: unknown): void;

  /** The listener gets what the others tell. */
  onTold(topic: string, listener: (payload: unknown) => void): void;

  /** The answers of the other nodes that answer in time. */
  askAll(topic: string, payload: unknown): Promise<unknown[]>;

  /** Answers what the others ask. Each topic has one. */
  onAsked(topic: string, answer: (payload: unknown) => Promise<unknown>): void;
}
