import type { SessionId } from '../../core/ids.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import type { NodeTopic } from '../../ports/peers.ts';
import type { AnswerOf, RequestOf, RequestType } from '../../ports/service-requests.ts';

/** A request of the bus, for the node that owns its session or for all nodes. */
interface RequestQuestion {
  readonly type: 'request';
  /** What the streams of the agent begin with. */
  readonly prefix: string;
  readonly name: RequestType;
  readonly request: RequestOf<RequestType>;
  readonly context: RequestContext;
}

/** From now on the node that asks is sent the signals of the session. */
export interface WatchQuestion {
  readonly type: 'watch';
  readonly prefix: string;
  readonly sessionId: SessionId;
}

/** Something that is about no session. */
interface TopicQuestion {
  readonly type: 'topic';
  readonly topic: string;
  readonly payload: unknown;
}

export type SessionQuestion = RequestQuestion | WatchQuestion;

/** What a node can be asked. */
export type NodeQuestion = SessionQuestion | TopicQuestion;

/** A question that is answered with an `Answer`. */
export type QuestionFor<Answer> = NodeQuestion & {
  /** Never set: it only tells the compiler the type of the answer. */
  readonly answer?: Answer;
};

/** Where a session is, as its owner says. */
export type WatchedPosition = AnswerOf<'session.position'> & {
  /** Whether the owner knew before that this node wants its signals. */
  readonly wasWatched: boolean;
  /** Number of the owner's last message to this node. That message, and earlier ones, are part of the position. */
  readonly n: number;
  /**
   * When the session began. Missing if the log does not have the session, or could not be read, or the node is of an older
   * release.
   */
  readonly began?: number;
};

export function requestQuestion<T extends RequestType>(
  prefix: string,
  name: T,
  request: RequestOf<T>,
  context: RequestContext,
): QuestionFor<AnswerOf<T>> {
  return { type: 'request', prefix, name, request, context };
}

export function watchQuestion(prefix: string, sessionId: SessionId): QuestionFor<WatchedPosition> {
  return { type: 'watch', prefix, sessionId };
}

export function topicQuestion<Payload, Answer>(
  { name }: NodeTopic<Payload, Answer>,
  payload: Payload,
): QuestionFor<Answer> {
  return { type: 'topic', topic: name, payload };
}
