import type { SessionId } from '../core/ids.ts';
import type { EncodedEvents } from './stored-row.ts';

/**
 * One append, ready to be stored. Its events are encoded during the call: so an event that cannot be encoded fails only
 * its own append, and later changes to its objects are not stored.
 */
export interface AppendRequest extends EncodedEvents {
  readonly sessionId: SessionId;
  readonly expectedSeq: number;
  readonly open?: boolean | undefined;
  readonly title?: string | null | undefined;
  /** Epoch of the ownership under which it was asked for, where several nodes share the log. Undefined: no owner. */
  readonly epoch?: number | undefined;
}

/** A batch that is stored, except for refused appends. */
export interface Committed {
  readonly time: number;
  /** The number of appends in the batch, refused ones included. */
  readonly appends: number;
  /** The duration of the commit, the sync to the disk included. */
  readonly syncMs: number;
  readonly refused: readonly Refusal[];
}

/** A refused append: its index in the batch, and the actual seq of its session or the damage found there. */
export type Refusal = { readonly index: number } & ({ readonly actual: number } | { readonly error: Error });
