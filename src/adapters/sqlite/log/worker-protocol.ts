import type { SessionId } from '../../../core/ids.ts';
import type { SessionFilter, SessionSummary } from '../../../ports/event-store.ts';
import type { EncodedEvents } from './stored-row.ts';

/** What the event store's main thread and its worker say to each other. */

/**
 * One append, ready to be stored. Encoded before it is sent: an event that cannot be encoded fails its own
 * append and not its batch, and what is stored is what was true at the call.
 */
export interface AppendRequest extends EncodedEvents {
  readonly sessionId: SessionId;
  readonly expectedSeq: number;
  readonly open?: boolean | undefined;
}

export type WorkerRequest = OpenRequest | LogRequest | CloseRequest;

/** The first. */
export interface OpenRequest {
  readonly type: 'open';
  readonly directory: string;
}

/** Of the open log. */
export type LogRequest =
  /** Appends to be committed together. The next batch is sent when this one is answered. */
  | { readonly type: 'append'; readonly batch: readonly AppendRequest[] }
  | { readonly type: 'call'; readonly id: number; readonly call: Call };

/** The last, also when no log was opened. */
export interface CloseRequest {
  readonly type: 'close';
}

/** What is answered one by one. */
export type Call = ReadCall | ListCall | ForkCall | AdoptionCall | EraseCall | ProbeCall;

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

/** Its events follow the copies. */
export interface ForkCall extends EncodedEvents {
  readonly type: 'fork';
  readonly from: SessionId;
  readonly at: number;
  readonly to: SessionId;
}

/** A session comes in parts: begun, staged any number of times, adopted as a whole or not at all, ended. */
export type AdoptionCall =
  | { readonly type: 'begin-adoption'; readonly sessionId: SessionId }
  | StageCall
  | AdoptCall
  | { readonly type: 'end-adoption'; readonly adoption: number };

export interface StageCall extends EncodedEvents {
  readonly type: 'stage';
  readonly adoption: number;
  readonly times: readonly number[];
}

export interface AdoptCall {
  readonly type: 'adopt';
  readonly adoption: number;
  readonly open: boolean;
}

export interface EraseCall {
  readonly type: 'erase';
  readonly sessionIds: readonly SessionId[];
}

export interface ProbeCall {
  readonly type: 'probe';
}

export type WorkerReply =
  | { readonly type: 'opened' }
  /** For the operator. */
  | { readonly type: 'notice'; readonly notice: string }
  | Committed
  | ({ readonly type: 'append-failed' } & Failure)
  | { readonly type: 'answer'; readonly id: number; readonly answer: Answer }
  | ({ readonly type: 'call-failed'; readonly id: number } & Failure);

/** On its way between the threads an error loses its class. */
export interface Failure {
  readonly error: Error;
  /** Whether it was a `StorageFullError`. */
  readonly isFull: boolean;
}

/** The batch is on disk, without the appends that were refused. */
export interface Committed {
  readonly type: 'committed';
  readonly time: number;
  /** How many appends the batch had. */
  readonly appends: number;
  /** How long the commit took, its synchronisation with the disk included. */
  readonly syncMs: number;
  readonly refused: readonly Refusal[];
}

/** An append of the batch that was refused: its index, and the seq its session was at, or what is wrong with it. */
export type Refusal = { readonly index: number } & ({ readonly actual: number } | { readonly error: Error });

export type Answer =
  | Page
  | Summaries
  | Forked
  | AdoptionBegun
  | Adopted
  | { readonly type: 'staged' | 'adoption-ended' | 'erased' | 'probed' };

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

export interface AdoptionBegun {
  readonly type: 'adoption-begun';
  /** What the calls that follow name it by. */
  readonly adoption: number;
  /** As of `Adopted`. */
  readonly actual: number;
}

export interface Adopted {
  readonly type: 'adopted';
  readonly head: number;
  /** The seq the session was at already, and nothing was done; 0 when it was not there. */
  readonly actual: number;
}
