import type { ErrorBody } from '../../core/errors.ts';
import type { StreamId } from '../../core/log/streams.ts';
import type { NodeId } from '../../ports/membership.ts';
import type { NodeQuestion } from './node-questions.ts';

/** Asks a node for something. The same question may arrive more than once. */
export interface AskMessage {
  readonly type: 'ask';
  readonly from: NodeId;
  /** Counts the questions of the node that asks. */
  readonly id: number;
  /** The node no longer waits for the answers to questions with lower ids. */
  readonly low: number;
  readonly question: NodeQuestion;
}

/** The question arrived, and its answer will come. */
export interface AckMessage {
  readonly type: 'ack';
  readonly from: NodeId;
  readonly id: number;
}

export interface AnswerMessage {
  readonly type: 'answer';
  readonly from: NodeId;
  readonly id: number;
  readonly result: QuestionResult;
}

export type QuestionResult =
  /** Without the field if the answer is `undefined`. */
  | { readonly status: 'done'; readonly answer?: unknown }
  | { readonly status: 'refused'; readonly error: ErrorBody }
  /** Nothing was done, because another node owns the session, or no node (null). */
  | { readonly status: 'elsewhere'; readonly owner: NodeId | null };

/** Signals of sessions, for a node that watches them. */
export interface FeedMessage {
  readonly type: 'feed';
  readonly from: NodeId;
  /** Counts the messages of this kind between the two nodes. Without items it repeats the last number. */
  readonly n: number;
  readonly items: readonly (readonly [StreamId, readonly unknown[]])[];
}

/** The node does not watch these streams any more. */
export interface UnwatchMessage {
  readonly type: 'unwatch';
  readonly from: NodeId;
  readonly streams: readonly StreamId[];
}

/**
 * For all nodes. `claimed`: the node now owns these sessions. `released`: no node owns them. `wanted`: the node wants
 * their signals, whichever node owns them.
 */
export interface Announcement {
  readonly type: 'claimed' | 'released' | 'wanted';
  readonly from: NodeId;
  readonly streams: readonly StreamId[];
}

/** For all nodes: something that is about no session. */
export interface TopicMessage {
  readonly type: 'told';
  readonly from: NodeId;
  readonly topic: string;
  readonly payload: unknown;
}

/** What one node tells others about sessions. */
export type SessionMessage = FeedMessage | UnwatchMessage | Announcement;

export type NodeMessage = AskMessage | AckMessage | AnswerMessage | TopicMessage | SessionMessage;

const TYPES: ReadonlySet<unknown> = new Set<NodeMessage['type']>([
  ...(['ask', 'ack', 'answer', 'feed', 'unwatch'] as const),
  ...(['claimed', 'released', 'wanted', 'told'] as const),
]);

/** The subject of messages for this node only. */
export function nodeSubject(node: NodeId): string {
  return `node.${node}`;
}

/** The subject of messages for all nodes. */
export const ALL_NODES = 'all';

/**
 * Requests and answers contain sets, which JSON lacks: a set is written as an object with this key and a list. Data of
 * clients and tools may contain the key, too. Such an object is written as `{"…set": {"entries": […]}}`.
 */
const SET = '\u0000set';
/** A message without this text is parsed without `revive`, which is several times as fast. */
const SET_IN_JSON = JSON.stringify(SET);

export function encodeMessage(message: NodeMessage): string {
  return JSON.stringify(message, (_, value: unknown) => {
    if (typeof value !== 'object' || value === null) return value;
    if (value instanceof Set) return { [SET]: [...value] };
    return Object.hasOwn(value, SET) ? { [SET]: { entries: Object.entries(value) } } : value;
  });
}

/** Feeds contain no sets, so nothing in them is escaped. */
const FEED = '{"type":"feed",';

/** @param items as the texts of a JSON list, without its brackets. */
export function encodeFeed({ from, n }: Pick<FeedMessage, 'from' | 'n'>, items: string): string {
  return `${FEED}"from":${from},"n":${n},"items":[${items}]}`;
}

/** Null if this release does not know the type of the message: nodes of two releases may run together. */
export function parseMessage(text: string): NodeMessage | null {
  const isEscaped = !text.startsWith(FEED) && text.includes(SET_IN_JSON);
  const value: unknown = isEscaped ? JSON.parse(text, revive) : JSON.parse(text);
  return isMessage(value) ? value : null;
}

function revive(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !(SET in value)) return value;
  const held = value[SET];
  if (Array.isArray(held)) return new Set(held);
  if (typeof held === 'object' && held !== null && 'entries' in held && areEntries(held.entries))
    return Object.fromEntries(held.entries);
  // A node of the previous release does not escape the key.
  return value;
}

function areEntries(value: unknown): value is readonly (readonly [string, unknown])[] {
  return Array.isArray(value) && value.every((entry) => Array.isArray(entry) && typeof entry[0] === 'string');
}

/** Only the type is checked: nothing but nodes publishes here, so the other fields are as `encodeMessage` got them. */
function isMessage(value: unknown): value is NodeMessage {
  return typeof value === 'object' && value !== null && 'type' in value && TYPES.has(value.type);
}
