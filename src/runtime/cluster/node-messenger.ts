import { ServiceError } from '../../core/errors.ts';
import type { Logger } from '../../ports/logger.ts';
import {
  type LivingNode,
  type Membership,
  type NodeId,
  SessionElsewhereError,
} from '../../ports/membership.ts';
import type { NodeLink, Subject } from '../../ports/node-link.ts';
import type { NodeTopic, Peers } from '../../ports/peers.ts';
import type { Clock } from '../../timing/clock.ts';
import { LateAnswerError, NodeCalls } from './node-calls.ts';
import {
  ALL_NODES,
  encodeMessage,
  type NodeMessage,
  nodeSubject,
  parseMessage,
  type SessionMessage,
} from './node-messages.ts';
import {
  type NodeQuestion,
  type QuestionFor,
  type SessionQuestion,
  topicQuestion,
} from './node-questions.ts';
import { Outbox } from './outbox.ts';

/** How long the answer of each node is waited for, when all are asked. */
const ANSWER_MS = 2_000;

/** What came of asking one of several nodes. */
export type AskedNode<Answer> = { readonly node: LivingNode } & (
  | { readonly status: 'answered'; readonly answer: Answer }
  | { readonly status: 'refused'; readonly error: ServiceError }
  /** The node may have done what it was asked for, or may do so later. */
  | { readonly status: 'unreached' }
);

interface AskOptions {
  /** Only these nodes are asked, as far as they live. Left out: all. */
  readonly nodes?: ReadonlySet<NodeId> | undefined;
  /** How long each of them is waited for. */
  readonly limitMs?: number | undefined;
}

export interface NodeMessengerDeps {
  readonly link: NodeLink;
  readonly membership: Pick<Membership, 'self' | 'cluster' | 'living'>;
  readonly log: Logger;
  readonly clock?: Clock | undefined;
  /** Called with the sender of each message, before the message is taken. False: the message is ignored. */
  readonly admits: (from: NodeId) => boolean;
  readonly hear: (message: SessionMessage) => void;
  /** Answers a question of another node. Called once for each question. */
  readonly answer: (question: SessionQuestion, from: NodeId) => Promise<unknown>;
}

/**
 * Sends the messages of this node and receives those of the others. Topics are told and asked here; what is about
 * sessions is passed on.
 */
export class NodeMessenger implements Peers, Disposable {
  readonly outbox: Outbox;
  readonly #deps: NodeMessengerDeps;
  readonly #calls: NodeCalls;
  readonly #listeners = new Map<string, Set<(payload: unknown) => void>>();
  readonly #answers = new Map<string, (payload: unknown) => Promise<unknown>>();
  readonly #stops: readonly (() => void)[];

  constructor(deps: NodeMessengerDeps) {
    const { link, membership, log, clock } = deps;
    this.#deps = deps;
    this.outbox = new Outbox(link);
    this.#calls = new NodeCalls({
      link: this.outbox,
      membership,
      log,
      answer: (question, from) => this.#answer(question, from),
      clock,
    });
    this.#stops = [nodeSubject(membership.self), ALL_NODES].map((subject) =>
      link.subscribe(subject, (text) => this.#hear(text)),
    );
  }

  get clusterId(): string {
    return this.#deps.membership.cluster;
  }

  get others(): LivingNode[] {
    const { self, living } = this.#deps.membership;
    return [...living.values()].filter(({ nodeId }) => nodeId !== self);
  }

  publish(subject: Subject, message: NodeMessage): void {
    this.outbox.publish(subject, encodeMessage(message));
  }

  tell<Payload>(topic: NodeTopic<Payload>, payload: NoInfer<Payload>): void {
    this.#tell(ALL_NODES, topic.name, payload);
  }

  /** Tells one other node, if it can be reached. */
  tellOne<Payload>(node: NodeId, topic: NodeTopic<Payload>, payload: NoInfer<Payload>): void {
    this.#tell(nodeSubject(node), topic.name, payload);
  }

  onTold<Payload>({ name }: NodeTopic<Payload>, listener: (payload: Payload) => void): void {
    const listeners = this.#listeners.get(name) ?? new Set();
    // The other nodes tell under this name what the topic says.
    this.#listeners.set(name, listeners.add(listener as (payload: unknown) => void));
  }

  onAsked<Payload, Answer>(
    { name }: NodeTopic<Payload, Answer>,
    answer: (payload: Payload) => Promise<NoInfer<Answer>>,
  ): void {
    // The other nodes ask under this name with what the topic says.
    this.#answers.set(name, answer as (payload: unknown) => Promise<unknown>);
  }

  /** Rejects as `NodeCalls.ask` does. */
  ask<Answer>(node: NodeId, question: QuestionFor<Answer>): Promise<Answer> {
    return this.#calls.ask(node, question);
  }

  askAll<Payload, Answer>(topic: NodeTopic<Payload, Answer>, payload: NoInfer<Payload>): Promise<Answer[]> {
    return this.askOthers(topicQuestion(topic, payload));
  }

  /** The answers of the other nodes that answer in time. */
  async askOthers<Answer>(question: QuestionFor<Answer>, limitMs?: number): Promise<Answer[]> {
    const asked = await this.askEach(question, { limitMs });
    return asked.flatMap((one) => (one.status === 'answered' ? [one.answer] : []));
  }

  /** Resolves when each of the other nodes has answered, or cannot. */
  askEach<Answer>(question: QuestionFor<Answer>, options?: AskOptions): Promise<AskedNode<Answer>[]> {
    return Promise.all(this.asking(question, options));
  }

  /** One promise for each of the other nodes, for callers that need only one of the answers. */
  asking<Answer>(
    question: QuestionFor<Answer>,
    { nodes, limitMs = ANSWER_MS }: AskOptions = {},
  ): Promise<AskedNode<Answer>>[] {
    const asked = this.others.filter(({ nodeId }) => nodes?.has(nodeId) !== false);
    return asked.map((node) => this.#ask(node, question, limitMs));
  }

  /** The leases of these nodes have ended. Whoever waits for their answers is refused. */
  forgetLost(nodes: readonly NodeId[]): void {
    this.#calls.forgetLost(nodes);
  }

  /** Stops hearing, and sends what waits for the end of this turn of the event loop. The link stays open. */
  [Symbol.dispose](): void {
    for (const stop of this.#stops) stop();
    this.#calls.close();
    this.outbox[Symbol.dispose]();
  }

  #tell(subject: Subject, topic: string, payload: unknown): void {
    this.publish(subject, { type: 'told', from: this.#deps.membership.self, topic, payload });
  }

  async #ask<Answer>(
    node: LivingNode,
    question: QuestionFor<Answer>,
    limitMs: number,
  ): Promise<AskedNode<Answer>> {
    const { log } = this.#deps;
    const about = { asked: node.nodeId, question: question.type };
    try {
      return { node, status: 'answered', answer: await this.#calls.ask(node.nodeId, question, limitMs) };
    } catch (err) {
      if (err instanceof LateAnswerError) log.warn(about, 'a node did not answer in time');
      else log.debug({ ...about, err }, 'a node refused, or could not be asked');
      // Without NATS the question was not sent.
      if (err instanceof ServiceError && err.code !== 'SERVICE_UNAVAILABLE')
        return { node, status: 'refused', error: err };
    }
    return { node, status: 'unreached' };
  }

  #hear(text: string): void {
    const message = parseMessage(text);
    if (!message || !this.#deps.admits(message.from)) return;
    switch (message.type) {
      case 'ask':
        this.#calls.hearAsk(message);
        return;
      case 'ack':
        this.#calls.hearAck(message.from, message.id);
        return;
      case 'answer':
        this.#calls.hearAnswer(message);
        return;
      case 'told':
        for (const listener of this.#listeners.get(message.topic) ?? []) listener(message.payload);
        return;
      default:
        this.#deps.hear(message);
    }
  }

  async #answer(question: NodeQuestion, from: NodeId): Promise<unknown> {
    if (question.type !== 'topic') return this.#deps.answer(question, from);
    const answer = this.#answers.get(question.topic);
    // This node is starting. Its refusal counts as no answer.
    if (!answer) throw new SessionElsewhereError(question.topic, null);
    return answer(question.payload);
  }
}
