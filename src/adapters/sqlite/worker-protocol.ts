import type { SessionId } from '../../contract/ids.ts';
import type { SessionFilter, SessionSummary } from '../../ports/event-store.ts';

/** What the event store's main thread and its worker say to each other. */

/**
 * One append, ready to be stored. Encoded before it is sent: an event that cannot be encoded fails its own
 * append and not its batch, and what is stored is what was true at the call.
 */
export interface AppendRequest {
  readonly sessionId: SessionId;
  readonly expectedSeq: number;
  readonly types: readonly string[];
  /** One JSON text an event. */
  readonly data: readonly string[];
  readonly open?: boolean | undefined;
}

export type WorkerRequest =
  /** Appends to be committed together. The next batch is sent when this one is answered. */
  | { readonly type: 'append'; readonly batch: readonly AppendRequest[] }
  | { readonly type: 'call'; readonly id: number; readonly call: Call }
  | { readonly type: 'close' };

/** What is answered one by one. */
export type Call = ReadCall | ListCall | ForkCall | EraseCall;

export interface ReadCall {
  readonly type: 'read';
  readonly sessionId: SessionId;
  readonly afterSeq: number;
  readonly maxRows: number;
}

export interface ListCall {
  readonly type: 'list';
  readonly filter: SessionFilter;
}

export interface ForkCall {
  readonly type: 'fork';
  readonly from: SessionId;
  readonly at: number;
  readonly to: SessionId;
  /** Types and JSON of the events that follow the copies. */
  readonly types: readonly string[];
  readonly data: readonly string[];
}

export interface EraseCall {
  readonly type: 'erase';
  readonly sessionId: SessionId;
}

export type WorkerReply =
  | { readonly type: 'opened' }
  /** For the operator. */
  | { readonly type: 'notice'; readonly notice: string }
  | Committed
  | { readonly type: 'append-failed'; readonly error: Error }
  | { readonly type: 'answer'; readonly id: number; readonly answer: Answer }
  | { readonly type: 'call-failed'; readonly id: number; readonly error: Error };

/** The batch is on disk, without the appends that were refused. */
export interface Committed {
  readonly type: 'committed';
  readonly time: number;
  /** How many appends the batch had. */
  readonly appends: number;
  readonly refused: readonly Refusal[];
}

/** An append of the batch that was refused: its index, and the seq its session was at, or what is wrong with it. */
export type Refusal = { readonly index: number } & ({ readonly actual: number } | { readonly error: Error });

export type Answer = Page | Summaries | Forked | { readonly type: 'erased' };

export interface Page {
  readonly type: 'page';
  /** Verified, but not parsed yet. */
  readonly rows: readonly unknown[];
  /** False when there may be more rows within what was asked for. */
  readonly last: boolean;
}

export interface Summaries {
  readonly type: 'summaries';
  readonly summaries: readonly SessionSummary[];
}

export interface Forked {
  readonly type: 'forked';
  /** The seq the new session was at already, and nothing was done; 0 when it is forked now. */
  readonly actual: number;
}

/** How the worker is started. */
export interface WorkerOptions {
  readonly directory: string;
}
