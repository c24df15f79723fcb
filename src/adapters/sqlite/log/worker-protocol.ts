import type { SessionId } from '../../../core/ids.ts';
import type { LogSize, SessionFilter, SessionSummary } from '../../../ports/event-store.ts';
import type { LogCopy } from '../../../ports/log-backup.ts';
import type { AppendRequest, Committed } from '../../../stored-log/append-request.ts';
import type { EncodedEvents } from '../../../stored-log/stored-row.ts';
import type { DatabaseUse } from '../file/data-directory.ts';

/* The messages between the event store in the main thread and its worker. */

export type WorkerRequest = OpenRequest | LogRequest | CloseRequest;

/** The first message. */
export interface OpenRequest {
  readonly type: 'open';
  readonly directory: string;
  readonly use: DatabaseUse;
}

/** Requests to the open log. */
export type LogRequest =
  /** Appends that are committed together. The next batch is sent after the reply to this one. */
  | { readonly type: 'append'; readonly batch: readonly AppendRequest[] }
  | { readonly type: 'call'; readonly id: number; readonly call: Call };

/** The last message, also when no log was opened. */
export interface CloseRequest {
  readonly type: 'close';
}

/** A request that gets a reply of its own, with the same id. */
export type Call =
  | ReadCall
  | ListCall
  | IdsCall
  | ForkCall
  | AdoptionCall
  | EraseCall
  | MeasureCall
  | BackupCall
  | ProbeCall;

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

/** Asks for the ids of at most `limit` streams after that one. */
export interface IdsCall {
  readonly type: 'ids';
  readonly after: string;
  readonly limit: number;
}

/** Copies the events of `from` up to seq `at` into the new session `to`, and appends these events to the copies. */
export interface ForkCall extends EncodedEvents {
  readonly type: 'fork';
  readonly from: SessionId;
  readonly at: number;
  readonly to: SessionId;
  readonly open: boolean;
  readonly title?: string | null | undefined;
}

/** The calls of one adoption, in this order; `stage` any number of times, `end-adoption` also after a failure. */
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
  readonly title?: string | null | undefined;
}

export interface EraseCall {
  readonly type: 'erase';
  readonly sessionIds: readonly SessionId[];
}

export interface MeasureCall {
  readonly type: 'measure';
}

export interface BackupCall {
  readonly type: 'backup';
}

export interface ProbeCall {
  readonly type: 'probe';
}

export type WorkerReply =
  | { readonly type: 'opened' }
  /** A message for the operator. */
  | { readonly type: 'notice'; readonly notice: string }
  | BatchCommitted
  | ({ readonly type: 'append-failed' } & Failure)
  | { readonly type: 'answer'; readonly id: number; readonly answer: Answer }
  | ({ readonly type: 'call-failed'; readonly id: number } & Failure);

/** An error loses its class between the threads. */
export interface Failure {
  readonly error: Error;
  /** Whether the error was a `StorageFullError`. */
  readonly isFull: boolean;
}

/** The answer to a batch of appends. */
export interface BatchCommitted extends Committed {
  readonly type: 'committed';
}

export type Answer =
  | Page
  | Summaries
  | Ids
  | Forked
  | AdoptionBegun
  | Adopted
  | Measured
  | BackedUp
  | { readonly type: 'staged' | 'adoption-ended' | 'erased' | 'probed' };

export interface Page {
  readonly type: 'page';
  /** Rows whose hashes are verified; they are not parsed yet. */
  readonly rows: readonly unknown[];
  /** False when there may be more rows. */
  readonly last: boolean;
}

export interface Summaries {
  readonly type: 'summaries';
  readonly summaries: readonly SessionSummary[];
}

export interface Ids {
  readonly type: 'ids';
  readonly ids: readonly string[];
}

export interface Forked {
  readonly type: 'forked';
  /** 0 after a fork. Otherwise nothing was done, because the session `to` exists and is at this seq. */
  readonly actual: number;
}

export interface AdoptionBegun {
  readonly type: 'adoption-begun';
  /** The id of the adoption, for the calls that follow. */
  readonly adoption: number;
  /** As in `Adopted`. */
  readonly actual: number;
}

export interface Adopted {
  readonly type: 'adopted';
  readonly head: number;
  /** 0 if the session is new. Otherwise nothing was done, because the session exists and is at this seq. */
  readonly actual: number;
}

export interface Measured {
  readonly type: 'measured';
  readonly size: LogSize;
}

export interface BackedUp {
  readonly type: 'backed-up';
  readonly copy: LogCopy;
}
