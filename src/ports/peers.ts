/** What nodes tell or ask each other under one name. Payloads and answers are plain data. */
export interface NodeTopic<Payload, Answer = never> {
  readonly name: string;
  /** Never set. It lets the compiler compare those who tell or ask with those who listen or answer. */
  readonly types?: (payload: Payload) => Answer;
}

/** Each name has one topic, so its payloads and answers have one type at all nodes. */
export function nodeTopic<Payload, Answer = never>(name: string): NodeTopic<Payload, Answer> {
  return { name };
}

/** What nodes of a cluster say to each other besides requests and sessions. */
export interface Peers {
  /** Tells this cluster from others. Not secret: whoever sees the messages of the nodes sees it. */
  readonly clusterId: string;

  /** Tells all other nodes, as far as they can be reached. */
  tell<Payload>(topic: NodeTopic<Payload>, payload: NoInfer<Payload>): void;

  /** The listener is called with what the others tell. */
  onTold<Payload>(topic: NodeTopic<Payload>, listener: (payload: Payload) => void): void;

  /** The answers of the other nodes that answer in time. */
  askAll<Payload, Answer>(topic: NodeTopic<Payload, Answer>, payload: NoInfer<Payload>): Promise<Answer[]>;

  /** Answers what the others ask. Each topic has one such function. */
  onAsked<Payload, Answer>(
    topic: NodeTopic<Payload, Answer>,
    answer: (payload: Payload) => Promise<NoInfer<Answer>>,
  ): void;
}
