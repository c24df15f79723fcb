import { LRUCache } from 'lru-cache';
import type { SessionId } from '../../core/ids.ts';
import type { StreamId } from '../../core/log/streams.ts';
import { type NodeId, SessionElsewhereError } from '../../ports/membership.ts';
import type { RequestType } from '../../ports/service-requests.ts';
import type { SessionRegistry } from '../sessions/session-registry.ts';
import type { Cluster } from './cluster.ts';

const MAX_OWNERS = 100_000;

/** While this node stops, it begins and erases no session: another node may be taking it. */
const BEGINS_OR_ENDS: ReadonlySet<RequestType> = new Set<RequestType>(['session.fork', 'session.delete']);

interface SessionOwnershipDeps {
  readonly cluster: Cluster;
  /** What the agent's streams begin with. */
  readonly prefix: string;
  /** The sessions in the memory of this node. Throws before the agent is composed. */
  readonly sessions: () => SessionRegistry;
}

/** Knows which node has each session of an agent, and claims and gives up sessions for this node. */
export class SessionOwnership {
  readonly #cluster: Cluster;
  readonly #prefix: string;
  readonly #sessions: () => SessionRegistry;
  /** The other nodes that owned sessions when they were asked last. */
  readonly #owners = new LRUCache<SessionId, NodeId>({ maxSize: MAX_OWNERS, sizeCalculation: () => 1 });
  /** The sessions that this node gives up because somebody asks for them while it stops. */
  readonly #givenUp = new Map<SessionId, Promise<void>>();

  constructor({ cluster, prefix, sessions }: SessionOwnershipDeps) {
    this.#cluster = cluster;
    this.#prefix = prefix;
    this.#sessions = sessions;
  }

  /** The other node that has the session, if it was asked about it lately. */
  knownOwner(sessionId: SessionId): NodeId | undefined {
    return this.#owners.get(sessionId);
  }

  /** @param owner as another node says. Null: nobody knows. */
  noteOwner(sessionId: SessionId, owner: NodeId | null): void {
    if (owner === null || owner === this.#cluster.membership.self) this.#owners.delete(sessionId);
    else this.#owners.set(sessionId, owner);
  }

  /** The node to ask for the session. Null: this node, as far as is known. */
  async ownerOf(sessionId: SessionId, type: RequestType): Promise<NodeId | null> {
    const { membership, feeds } = this.#cluster;
    const stream = this.#streamOf(sessionId);
    const known = this.#owners.get(sessionId) ?? feeds.sourceOf(stream);
    if (known !== undefined && membership.living.has(known)) return known;
    // This request claims nothing, so the claim cannot show that another node has the session.
    if (type === 'session.rest' && !membership.owns(stream)) {
      const owner = (await membership.places([stream])).get(stream)?.owner ?? null;
      return owner === membership.self ? null : owner;
    }
    // While this node stops, another node takes the session, or has it.
    if (this.#sessions().isDraining) {
      await this.#giveUp(sessionId);
      return this.#successor;
    }
    return null;
  }

  /** Makes the session this node's. Rejects with a `SessionElsewhereError` if another node has it. */
  async claim(sessionId: SessionId): Promise<void> {
    const { membership, feeds } = this.#cluster;
    const stream = this.#streamOf(sessionId);
    // Nothing new of the session may be told before its clients have all that they lack.
    if (membership.owns(stream)) return feeds.owned(stream);
    // A node that stops takes nothing back from the others.
    if (this.#sessions().isDraining && this.#successor !== null)
      throw new SessionElsewhereError(sessionId, null);
    try {
      await membership.claim(stream);
    } catch (error) {
      // This node may have presumed that the session is new.
      feeds.loseOwn(stream);
      throw error;
    }
    await this.own(sessionId);
  }

  /**
   * The session belongs to this node now. Rejects if the log cannot be read. Then the session has to be claimed again
   * before it is used.
   */
  async own(sessionId: SessionId): Promise<void> {
    const stream = this.#streamOf(sessionId);
    this.#owners.delete(sessionId);
    try {
      await this.#cluster.feeds.own(stream);
    } catch (error) {
      this.#cluster.membership.forget(stream);
      throw error;
    } finally {
      // This node is the owner, whatever its own clients lack.
      this.#cluster.announce('claimed', stream);
    }
  }

  /**
   * Forgets a session that was claimed for a request, unless the session has begun: another node may begin it, and this node
   * may not hear of that.
   */
  forgetUnlessBegun(sessionId: SessionId): void {
    const sessions = this.#sessions();
    if (sessions.has(sessionId) && !sessions.discardEmpty(sessionId)) return;
    this.#cluster.membership.forget(this.#streamOf(sessionId));
    this.#cluster.feeds.loseOwn(this.#streamOf(sessionId));
  }

  /**
   * Rejects with a `SessionElsewhereError` if another node has to answer, because this one stops. The sessions in its
   * memory go on here: a turn may need to be cancelled or approved to end.
   */
  async refuseWhenLeaving(sessionId: SessionId, type: RequestType): Promise<void> {
    const sessions = this.#sessions();
    if (!sessions.isDraining || (sessions.has(sessionId) && !BEGINS_OR_ENDS.has(type))) return;
    await this.#giveUp(sessionId);
    if (this.#successor !== null) throw new SessionElsewhereError(sessionId, null);
  }

  /**
   * Resolves when this node, which stops, does not have the session any more. By the index, the node also owns sessions
   * that have left its memory, and no other node could claim these before this node is gone.
   */
  #giveUp(sessionId: SessionId): Promise<void> {
    // All requests wait for the same attempt: when it is done, another node may have the session.
    const givenUp =
      this.#givenUp.get(sessionId) ??
      this.#giveUpNow(sessionId).finally(() => this.#givenUp.delete(sessionId));
    this.#givenUp.set(sessionId, givenUp);
    return givenUp;
  }

  async #giveUpNow(sessionId: SessionId): Promise<void> {
    const sessions = this.#sessions();
    await sessions.left(sessionId);
    if (this.#successor === null) return;
    const { membership, feeds } = this.#cluster;
    const stream = this.#streamOf(sessionId);
    const place = (await membership.places([stream])).get(stream);
    if (place?.owner !== membership.self) return;
    await feeds.ready(stream);
    if (sessions.has(sessionId)) return;
    await this.#cluster.giveUp(stream, place.head);
  }

  /** A node that takes what this one gives up. */
  get #successor(): NodeId | null {
    return this.#cluster.others.find(({ isDraining }) => !isDraining)?.nodeId ?? null;
  }

  #streamOf(sessionId: SessionId): StreamId {
    return this.#prefix + sessionId;
  }
}
