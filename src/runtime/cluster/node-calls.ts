import { asServiceError, isFailure, levelOfFailure, ServiceError } from '../../core/errors.ts';
import { FencedError } from '../../core/log/fenced.ts';
import { StaleVersionError } from '../../ports/event-store.ts';
import type { Logger } from '../../ports/logger.ts';
import { type Membership, type NodeId, SessionElsewhereError } from '../../ports/membership.ts';
import type { NodeLink } from '../../ports/node-link.ts';
import { type Clock, systemClock } from '../../timing/clock.ts';
import { KeptAnswers } from './kept-answers.ts';
import {
  type AckMessage,
  type AnswerMessage,
  type AskMessage,
  encodeMessage,
  nodeSubject,
  type QuestionResult,
} from './node-messages.ts';
import type { NodeQuestion, QuestionFor } from './node-questions.ts';

/** How often a question is repeated until its answer comes. */
const REPEAT_MS = 1_000;
/** A node that says nothing for this long counts as unreachable, although its lease is held. */
const UNHEARD_MS = 5_000;

/** The node is gone, or cannot be reached. It may or may not have done what it was asked for. */
export class NodeLostError extends Error {
  override readonly name = 'NodeLostError';
  readonly node: NodeId;

  constructor(node: NodeId, why: string) {
    super(`node ${node} ${why}`);
    this.node = node;
  }
}

/** The answer did not come within the `limitMs` of the question. */
export class LateAnswerError extends Error {
  override readonly name = 'LateAnswerError';
}

/** The other nodes cannot be reached now. Nothing was done. */
export function busAway(cause?: Error): ServiceError {
  return new ServiceError(
    'SERVICE_UNAVAILABLE',
    'The node that has this session cannot be reached now. Try again later.',
    { reason: 'the nodes of the cluster cannot reach each other', retryAfter: 2 },
    cause,
  );
}

export interface NodeCallsDeps {
  readonly link: Pick<NodeLink, 'isUp' | 'publish'>;
  readonly membership: Pick<Membership, 'self'>;
  readonly log: Logger;
  /** Does what a node was asked for. Called once for each question. */
  readonly answer: (question: NodeQuestion, from: NodeId) => Promise<unknown>;
  /** Tests simulate the clock and the time. */
  readonly clock?: Clock | undefined;
  readonly now?: (() => number) | undefined;
}

interface Waiting {
  readonly node: NodeId;
  readonly question: NodeQuestion;
  readonly settled: PromiseWithResolvers<unknown>;
  /** Fires when the time for the answer is over. */
  readonly timer: unknown;
  sentAt: number;
  /** When the node last said that the answer will come; at first, when it was asked. */
  heardAt: number;
}

/**
 * Questions between nodes over a link that may lose and duplicate messages. A question is repeated until it is answered,
 * and executed at most once.
 */
export class NodeCalls {
  readonly #deps: NodeCallsDeps;
  readonly #clock: Clock;
  readonly #now: () => number;
  readonly #waiting = new Map<number, Waiting>();
  readonly #askers = new Map<NodeId, KeptAnswers>();
  #lastId = 0;
  #sweep: unknown = null;
  #isClosed = false;

  constructor(deps: NodeCallsDeps) {
    this.#deps = deps;
    this.#clock = deps.clock ?? systemClock;
    this.#now = deps.now ?? (() => performance.now());
  }

  /**
   * Rejects with the `ServiceError` of a refusal, with a `SessionElsewhereError` when nothing was done because another
   * node has the session, and with a `NodeLostError` when nobody knows whether it was done.
   * @param limitMs how long the answer is waited for; then it rejects with a `LateAnswerError`. Left out: as long as the node
   * says that the answer will come.
   */
  ask<Answer>(node: NodeId, question: QuestionFor<Answer>, limitMs?: number): Promise<Answer> {
    const { link } = this.#deps;
    if (!link.isUp || this.#isClosed) return Promise.reject(busAway());
    this.#lastId += 1;
    const id = this.#lastId;
    const now = this.#now();
    const settled = Promise.withResolvers<unknown>();
    const timer = limitMs === undefined ? undefined : this.#clock.setTimeout(() => this.#giveUp(id), limitMs);
    const waiting: Waiting = { node, question, settled, timer, sentAt: now, heardAt: now };
    this.#waiting.set(id, waiting);
    this.#send(id, waiting);
    this.#sweepLater();
    // Nodes answer each question as node-questions.ts says. The answer was not parsed, so this is where it gets its type.
    return settled.promise as Promise<Answer>;
  }

  hearAsk({ from, id, low, question }: AskMessage): void {
    const asker = this.#asker(from);
    asker.forgetBefore(low);
    const known = asker.find(id);
    if (known === undefined) void this.#answer(asker, { from, id, question });
    else if (known === 'answering') this.#publish(from, { type: 'ack', from: this.#self, id });
    // A dropped answer is not sent again. A node that still waits for it takes this node for lost.
    else if (known !== 'given up') this.#deps.link.publish(nodeSubject(from), known.text);
  }

  hearAck(from: NodeId, id: number): void {
    const waiting = this.#waiting.get(id);
    if (waiting?.node === from) waiting.heardAt = this.#now();
  }

  hearAnswer({ from, id, result }: AnswerMessage): void {
    const waiting = this.#waiting.get(id);
    if (waiting?.node !== from) return;
    this.#forget(id, waiting);
    settle(waiting, result);
  }

  /** These nodes are gone and never come back. */
  forgetLost(nodes: readonly NodeId[]): void {
    for (const node of nodes) this.#askers.delete(node);
    for (const [id, waiting] of this.#waiting) {
      const { node, settled } = waiting;
      if (!nodes.includes(node)) continue;
      this.#forget(id, waiting);
      settled.reject(new NodeLostError(node, 'is gone'));
    }
  }

  /** Rejects all questions that wait, with a `NodeLostError`. */
  close(): void {
    this.#isClosed = true;
    this.#clock.clearTimeout(this.#sweep);
    for (const [id, waiting] of this.#waiting) {
      this.#forget(id, waiting);
      waiting.settled.reject(new NodeLostError(waiting.node, 'is not waited for: this node is stopping'));
    }
  }

  get #self(): NodeId {
    return this.#deps.membership.self;
  }

  #asker(node: NodeId): KeptAnswers {
    const known = this.#askers.get(node) ?? new KeptAnswers();
    this.#askers.set(node, known);
    return known;
  }

  async #answer(
    asker: KeptAnswers,
    { from, id, question }: Pick<AskMessage, 'from' | 'id' | 'question'>,
  ): Promise<void> {
    asker.begin(id);
    const result = await this.#resultOf(question, from);
    const text = encodeMessage({ type: 'answer', from: this.#self, id, result } satisfies AnswerMessage);
    asker.keep(id, text);
    this.#deps.link.publish(nodeSubject(from), text);
  }

  async #resultOf(question: NodeQuestion, from: NodeId): Promise<QuestionResult> {
    try {
      return { status: 'done', answer: await this.#deps.answer(question, from) };
    } catch (thrown) {
      if (thrown instanceof SessionElsewhereError) return { status: 'elsewhere', owner: thrown.owner };
      // The session has left this node meanwhile, or this node has lost its lease. Nothing was recorded.
      if (thrown instanceof StaleVersionError || thrown instanceof FencedError)
        return { status: 'elsewhere', owner: null };
      const error = asServiceError(thrown);
      // The cause is logged here, because the other node gets only the refusal.
      if (isFailure(error))
        this.#deps.log[levelOfFailure(thrown)](
          { err: thrown, question: question.type, from },
          'a question of a node failed',
        );
      return { status: 'refused', error: error.body };
    }
  }

  #send(id: number, { node, question }: Waiting): void {
    const [low = id] = this.#waiting.keys();
    this.#publish(node, { type: 'ask', from: this.#self, id, low, question });
  }

  #publish(node: NodeId, message: AskMessage | AckMessage): void {
    this.#deps.link.publish(nodeSubject(node), encodeMessage(message));
  }

  #forget(id: number, { timer }: Waiting): void {
    this.#waiting.delete(id);
    this.#clock.clearTimeout(timer);
  }

  /** Stops repeating the question. While it is open, the other node keeps its answers to all later questions, too. */
  #giveUp(id: number): void {
    const waiting = this.#waiting.get(id);
    if (!waiting) return;
    this.#forget(id, waiting);
    waiting.settled.reject(new LateAnswerError(`node ${waiting.node} has not answered in time`));
  }

  #sweepLater(): void {
    if (this.#sweep !== null || this.#isClosed) return;
    this.#sweep = this.#clock.setTimeout(() => {
      this.#sweep = null;
      this.#repeat();
      if (this.#waiting.size > 0) this.#sweepLater();
    }, REPEAT_MS);
  }

  #repeat(): void {
    const now = this.#now();
    for (const [id, waiting] of this.#waiting) {
      if (now - waiting.heardAt >= UNHEARD_MS) {
        this.#forget(id, waiting);
        waiting.settled.reject(new NodeLostError(waiting.node, 'does not answer'));
      } else if (now - waiting.sentAt >= REPEAT_MS) {
        waiting.sentAt = now;
        this.#send(id, waiting);
      }
    }
  }
}

function settle({ settled, node }: Waiting, result: QuestionResult): void {
  switch (result.status) {
    case 'done':
      settled.resolve(result.answer);
      return;
    case 'refused':
      settled.reject(ServiceError.of(result.error));
      return;
    case 'elsewhere':
      settled.reject(new SessionElsewhereError(`the session that node ${node} was asked for`, result.owner));
      return;
    default:
      result satisfies never;
  }
}
