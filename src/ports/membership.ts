import type { AgentId, AgentVersion } from '../core/agent-description.ts';
import type { StreamId } from '../core/log/streams.ts';
import type { Unsubscribe } from './bus.ts';

/** The id of one start of one process; never used again. */
export type NodeId = number;

/** How much a node has to do. */
export interface NodeLoad {
  /** Sessions in memory. */
  readonly sessions: number;
  /** Open turns in them. */
  readonly turns: number;
  /** Messages that wait behind those. */
  readonly waiting: number;
}

/** What a node tells the others of itself. */
export interface NodeReport {
  /** Where it listens, as `host:port`. Absent until it does. */
  readonly address?: string | undefined;
  /** Whether it is stopping, and takes no more sessions. */
  readonly isDraining: boolean;
  readonly load: NodeLoad;
  /** The versions of its agents that turns begin with now. Absent until they are composed. */
  readonly agents?: Readonly<Record<AgentId, AgentVersion>> | undefined;
}

/** A node whose lease has not ended. */
export interface LivingNode extends NodeReport {
  readonly nodeId: NodeId;
  /** Host and process. */
  readonly name: string;
  /** The version of agent-service. */
  readonly version: string;
  /** When it joined: milliseconds since the epoch, by the clock of the database. */
  readonly since: number;
  /** How long its lease lasted when it was read, in milliseconds. */
  readonly leaseMs: number;
}

/** A stream as the index has it. */
export interface StreamPlace {
  /** Null: nobody who lives owns it. */
  readonly owner: NodeId | null;
  /** Seq of its last event. */
  readonly head: number;
  /** When it began, in milliseconds since the epoch. A session that was deleted and begun again is another one. */
  readonly began: number;
}

/** The session belongs to another node, or to nobody after it has left this one. Nothing was done. */
export class SessionElsewhereError extends Error {
  override readonly name = 'SessionElsewhereError';
  readonly owner: NodeId | null;

  constructor(streamId: StreamId, owner: NodeId | null) {
    super(owner === null ? `nobody owns ${streamId}` : `node ${owner} owns ${streamId}`);
    this.owner = owner;
  }
}

/**
 * The nodes that share a log, and which of them owns each session. Each node has a lease, by one clock for all. Promises:
 *
 * - A session has at most one owner. It changes when the owner gives the session up, or has lost its lease.
 * - A node that has lost its lease appends nothing any more, to no stream: the log itself sees to that.
 */
export interface Membership {
  readonly self: NodeId;
  /** Names the cluster: the same for all nodes that share the log, and for no others. Letters, digits, `-` and `_`. */
  readonly cluster: string;
  /** As they were read last, a moment ago. This node is among them. */
  readonly living: ReadonlyMap<NodeId, LivingNode>;
  /** Whether the lease of this node has certainly not ended. */
  readonly isHeld: boolean;

  /** The others are told this with the next renewal of the lease. */
  report(report: NodeReport): void;

  /** Renews the lease now, and reads the others. */
  refresh(): Promise<void>;

  /** The listener is called after each renewal of the lease, when `living` is new. */
  onRenewed(listener: () => void): Unsubscribe;

  /** The listener is called with the nodes that this one has removed, because their leases had ended. */
  onRemoved(listener: (nodes: readonly NodeId[]) => void): Unsubscribe;

  /** Another node says that it has removed this one, which may not reach what the nodes share. This node ends. */
  lose(): void;

  /** This node becomes the owner, unless a living one is. Rejects with a `SessionElsewhereError` then. */
  claim(streamId: StreamId): Promise<void>;

  /** Whether the stream is one that this node has claimed, or presumed to be new, and has not forgotten. */
  owns(streamId: StreamId): boolean;

  /** The stream is presumed not to exist. The first append to it makes this node its owner, or is refused. */
  presumeNew(streamId: StreamId): void;

  /** The session has left the memory of this node, which stays its owner. */
  forget(streamId: StreamId): void;

  /**
   * This node becomes the owner of at most `limit` streams with an open turn whose owners are gone. At most as many more
   * are this node's already, and `isKnown` says of each that it is not known: the answer to a claim was lost, for example.
   * Those have to be claimed before they are used.
   */
  claimOrphans(prefix: string, limit: number, isKnown: (stream: StreamId) => boolean): Promise<StreamId[]>;

  /** Nobody owns these streams any more. */
  release(streamIds: readonly StreamId[]): Promise<void>;

  /** Streams that do not exist are left out. */
  places(streamIds: readonly StreamId[]): Promise<ReadonlyMap<StreamId, StreamPlace>>;
}
