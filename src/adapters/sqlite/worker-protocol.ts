import type { SessionId } from '../../contract/ids.ts';

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
}

export type WorkerRequest =
  /** Appends to be committed together. The next batch is sent when this one is answered. */
  | { readonly type: 'append'; readonly batch: readonly AppendRequest[] }
  | ReadRequest
  | { readonly type: 'close' };

export interface ReadRequest {
  readonly type: 'read';
  readonly id: number;
  readonly sessionId: SessionId;
  readonly afterSeq: number;
  readonly maxRows: number;
}

export type WorkerReply =
  | { readonly type: 'opened' }
  | Committed
  | { readonly type: 'append-failed'; readonly error: Error }
  | Page
  | { readonly type: 'read-failed'; readonly id: number; readonly error: Error };

/** The batch is on disk, without the appends that were refused. */
export interface Committed {
  readonly type: 'committed';
  readonly time: number;
  /** How many appends the batch had. */
  readonly appends: number;
  readonly stale: readonly StaleAppend[];
}

/** An append of the batch that was refused: its index, and the seq its session was at. */
export interface StaleAppend {
  readonly index: number;
  readonly actual: number;
}

export interface Page {
  readonly type: 'page';
  readonly id: number;
  /** As they came from the database, not parsed yet. */
  readonly rows: readonly unknown[];
  /** False when there may be more rows within what was asked for. */
  readonly last: boolean;
}

/** How the worker is started. */
export interface WorkerOptions {
  readonly directory: string;
}
