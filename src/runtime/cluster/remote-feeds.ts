import type { Envelope } from '../../core/log/envelope.ts';
import type { StreamId } from '../../core/log/streams.ts';
import type { Membership, NodeId, StreamPlace } from '../../ports/membership.ts';
import { type FeedDeps, RemoteFeed } from './remote-feed.ts';
import { signalsOf } from './signal-batch.ts';
import type { FeedMark } from './told-session.ts';

/** Maximum of streams whose places are looked up together. */
const PAGE_STREAMS = 1_000;
/** The place of a session that does not exist. */
const NOWHERE: StreamPlace = { owner: null, head: 0, began: 0 };

export interface RemoteFeedsDeps extends Pick<FeedDeps, 'watch' | 'read' | 'sessionOf' | 'tell' | 'onError'> {
  readonly membership: Pick<Membership, 'self' | 'living' | 'places' | 'owns'>;
  /** Asks all nodes for the signals of these streams, which no node owns: the next owner sends them. */
  readonly want: (streams: readonly StreamId[]) => void;
  /** Tells the node to stop sending the signals of these streams. Null: tells all nodes. */
  readonly unwatch: (node: NodeId | null, streams: readonly StreamId[]) => void;
  /** Another node has begun a session that this node presumed to be its own. */
  readonly onClaimed: (stream: StreamId, owner: NodeId) => void;
}

/** The feeds of the sessions that clients of this node hear. */
export class RemoteFeeds {
  readonly #deps: RemoteFeedsDeps;
  readonly #feeds = new Map<StreamId, RemoteFeed>();
  /** Number of the last message of each node. */
  readonly #lastOf = new Map<NodeId, number>();
  /** For each node, the number of a message after which no message was lost. */
  readonly #wholeSince = new Map<NodeId, number>();
  /** The streams for whose signals all nodes were asked. */
  readonly #wanted = new Set<StreamId>();
  /** The feeds whose sessions have to be looked up. */
  #unplaced = new Map<StreamId, RemoteFeed>();
  #placing: Promise<void> = Promise.resolve();

  constructor(deps: RemoteFeedsDeps) {
    this.#deps = deps;
  }

  get size(): number {
    return this.#feeds.size;
  }

  /**
   * A client of this node hears the session from now on.
   * @param owner the owner of the session, if it was known a moment ago. If it is this node, that is certain.
   */
  open(stream: StreamId, owner?: NodeId): void {
    const feed = new RemoteFeed(stream, {
      ...this.#deps,
      place: async (wanted) => (await this.#deps.membership.places([wanted])).get(wanted) ?? NOWHERE,
      onLost: (lost, where) => this.#moved(lost, where),
    });
    const { self, living } = this.#deps.membership;
    this.#feeds.set(stream, feed);
    if (owner === self) feed.presumeOwn(true);
    // The first event of the session is being written, or the session is being loaded.
    else if (this.#deps.membership.owns(stream)) feed.presumeOwn();
    else if (owner !== undefined && living.has(owner)) void this.#attachOrPlace(stream, feed, owner);
    else this.#placeLater(stream, feed);
  }

  /** Attaches the feed to the owner. If that node does not have the session any more, looks the session up. */
  async #attachOrPlace(stream: StreamId, feed: RemoteFeed, owner: NodeId): Promise<void> {
    await feed.attach(owner);
    const isLost = feed.source === null && !feed.isOwn && !feed.hasBegun;
    if (isLost && this.#feeds.get(stream) === feed) this.#placeLater(stream, feed);
  }

  #placeLater(stream: StreamId, feed: RemoteFeed): void {
    if (this.#unplaced.size === 0) this.#placing = Promise.resolve().then(() => this.#placeAll());
    this.#unplaced.set(stream, feed);
  }

  /** No client hears the session any more. */
  close(stream: StreamId): void {
    const feed = this.#feeds.get(stream);
    if (!feed) return;
    this.#feeds.delete(stream);
    this.#unplaced.delete(stream);
    const { source } = feed;
    feed.close();
    if (this.#wanted.delete(stream)) this.#deps.unwatch(null, [stream]);
    else if (source !== null) this.#deps.unwatch(source, [stream]);
  }

  /**
   * Resolves when the clients of this node hear what happens in the session from now on. Rejects if the place of the session
   * cannot be read, and nobody else says where its clients begin.
   */
  async ready(stream: StreamId): Promise<void> {
    do {
      if (this.#unplaced.has(stream)) await this.#placing;
      await this.#feeds.get(stream)?.ready;
    } while (this.#unplaced.has(stream));
    await this.#beginAtHead(stream);
  }

  /** A feed that began only later would leave out what happens until then, such as the end of a turn. */
  async #beginAtHead(stream: StreamId): Promise<void> {
    const feed = this.#feeds.get(stream);
    if (!feed || feed.hasBegun || feed.isOwn) return;
    const { head, began } = (await this.#deps.membership.places([stream])).get(stream) ?? NOWHERE;
    if (!feed.isOwn) feed.begin(head, began);
  }

  /**
   * Seq of the last event of the session that the clients of this node were told. Infinity: all were told.
   * @param head where the feed begins if it does not know yet what its clients have.
   */
  toldUpTo(stream: StreamId, head: number): number {
    const feed = this.#feeds.get(stream);
    feed?.begin(head);
    return feed?.toldUpTo ?? Infinity;
  }

  /** @param n number of the message. A gap in the numbers means that a message was lost. */
  hear(from: NodeId, n: number, items: readonly (readonly [StreamId, readonly unknown[]])[]): void {
    const last = this.#lastOf.get(from);
    const next = items.length === 0 ? n : n - 1;
    if (last !== undefined && n <= last && items.length > 0) return;
    this.#lastOf.set(from, Math.max(n, last ?? n));
    if (last === undefined || next > last) this.#wholeSince.set(from, next);
    if (last !== undefined && next > last) this.#attachAll(from);
    const unwatched: StreamId[] = [];
    for (const [stream, signals] of items) {
      const feed = this.#feeds.get(stream);
      if (feed) feed.hear(from, n, signalsOf(signals));
      else unwatched.push(stream);
    }
    if (unwatched.length > 0) this.#deps.unwatch(from, unwatched);
  }

  /** @param n number of the last message of the node when it was asked. @returns whether no later message was lost. */
  noteLast(from: NodeId, n: number): boolean {
    if (!this.#lastOf.has(from)) {
      this.#lastOf.set(from, n);
      this.#wholeSince.set(from, n);
    }
    return n >= (this.#wholeSince.get(from) ?? 0);
  }

  /** Another node owns the session now. */
  claimed(stream: StreamId, owner: NodeId): void {
    const feed = this.#feeds.get(stream);
    if (feed && !feed.isOwn && feed.source !== owner) void feed.attach(owner, true);
  }

  /** The node does not own these sessions any more. */
  released(streams: readonly StreamId[], owner: NodeId): void {
    for (const stream of streams) {
      const feed = this.#feeds.get(stream);
      if (feed?.source === owner) feed.loseSource();
    }
  }

  /** This node owns the session. Resolves before its first signal. Rejects while the log cannot be read. */
  async own(stream: StreamId): Promise<void> {
    this.#unplaced.delete(stream);
    await this.#feeds.get(stream)?.own();
  }

  /** Resolves when `own`, which was called before, is done. Rejects as `own` does. */
  async owned(stream: StreamId): Promise<void> {
    await this.#feeds.get(stream)?.owned();
  }

  /** This node has told its clients an event of a session that it owns. */
  noteOwn(stream: StreamId, event: Envelope): void {
    this.#feeds.get(stream)?.noteOwn(event);
  }

  presumeOwn(stream: StreamId): void {
    const feed = this.#feeds.get(stream);
    if (!feed) return;
    this.#unplaced.delete(stream);
    feed.presumeOwn();
  }

  /** This node does not own the session after all. */
  loseOwn(stream: StreamId): void {
    const feed = this.#feeds.get(stream);
    if (feed?.isOwn) feed.loseSource();
  }

  /** This node does not own the session any more. @param seq of the last event of the session. */
  disown(stream: StreamId, seq: number): void {
    this.#feeds.get(stream)?.disown(seq);
  }

  /** The other node that sends the signals of the session, as its owner. */
  sourceOf(stream: StreamId): NodeId | undefined {
    return this.#feeds.get(stream)?.source ?? undefined;
  }

  /** Resolves when the feed gets its signals from this node, or reads them in the log. Rejects as `ready` does. */
  async follow(stream: StreamId, owner: NodeId): Promise<void> {
    const feed = this.#feeds.get(stream);
    if (!feed) return;
    if (this.#unplaced.has(stream)) await this.#placing;
    if (feed.source !== owner) await feed.attach(owner);
    else await feed.ready;
    await this.#beginAtHead(stream);
  }

  /** Messages to this node may have been lost, so each feed asks its source again. */
  attachAgain(): void {
    for (const node of new Set([...this.#feeds.values()].map(({ source }) => source)))
      if (node !== null) this.#attachAll(node);
  }

  /** Looks up what this node was not told: new owners, and events of owners that it cannot reach. */
  async check(): Promise<void> {
    const { living } = this.#deps.membership;
    for (const node of this.#lastOf.keys()) if (!living.has(node)) this.#forget(node);
    for (const [stream, feed] of this.#feeds)
      if (feed.isOverdue) feed.own().catch((error: unknown) => this.#deps.onError(stream, error));
    const wanted = [...this.#feeds].filter(
      ([stream, { mayBeElsewhere }]) => mayBeElsewhere && !this.#unplaced.has(stream),
    );
    for (const [, feed] of wanted) if (feed.source !== null && !living.has(feed.source)) feed.loseSource();
    for (let begin = 0; begin < wanted.length; begin += PAGE_STREAMS) {
      const page = wanted
        .slice(begin, begin + PAGE_STREAMS)
        .map(([stream, feed]) => ({ stream, feed, mark: feed.mark, wasOwn: feed.isOwn }));
      const places = await this.#deps.membership.places(page.map(({ stream }) => stream));
      for (const { stream, feed, mark, wasOwn } of page) {
        if (this.#feeds.get(stream) !== feed || feed.isOwn !== wasOwn) continue;
        const place = places.get(stream) ?? NOWHERE;
        if (wasOwn) this.#lookForOwner(stream, feed, place);
        else this.#look(feed, place, mark);
      }
    }
  }

  #forget(node: NodeId): void {
    this.#lastOf.delete(node);
    this.#wholeSince.delete(node);
  }

  /** Another node may have begun the session, and its announcement may have been lost. */
  #lookForOwner(stream: StreamId, feed: RemoteFeed, { owner }: StreamPlace): void {
    const isElsewhere = owner !== null && owner !== this.#deps.membership.self;
    if (isElsewhere && feed.mayBeElsewhere) this.#deps.onClaimed(stream, owner);
  }

  #look(feed: RemoteFeed, place: StreamPlace, mark: FeedMark): void {
    const { owner, head, began } = place;
    // The claim by this node takes care of the feed.
    if (owner === this.#deps.membership.self) return;
    if (owner !== null && owner !== feed.source) void this.#attachOr(feed, owner, place, mark);
    else {
      feed.begin(head, began);
      feed.poll(place, mark);
    }
  }

  /** Attaches the feed to the node, or reads the log while the node cannot be reached. */
  async #attachOr(feed: RemoteFeed, node: NodeId, place: StreamPlace, mark: FeedMark): Promise<void> {
    const isFirst = !feed.hasBegun;
    await feed.attach(node);
    if (feed.isClosed || feed.isOwn) return;
    if (feed.source !== null) {
      if (isFirst) await feed.learn();
      return;
    }
    feed.begin(place.head, place.began);
    feed.poll(place, mark);
  }

  #attachAll(node: NodeId): void {
    for (const feed of this.#feeds.values()) if (feed.source === node) void feed.attach(node);
  }

  #moved(stream: StreamId, owner: NodeId | null): void {
    const feed = this.#feeds.get(stream);
    const { self, living } = this.#deps.membership;
    if (feed && owner !== null && owner !== self && living.has(owner)) void feed.attach(owner);
  }

  #want(streams: readonly StreamId[]): void {
    const open = streams.filter((stream) => this.#feeds.has(stream));
    for (const stream of open) this.#wanted.add(stream);
    if (open.length > 0) this.#deps.want(open);
  }

  async #placeAll(): Promise<void> {
    const unplaced = [...this.#unplaced].map(([stream, feed]) => ({ stream, feed, mark: feed.mark }));
    const streams = unplaced.map(({ stream }) => stream);
    this.#unplaced = new Map();
    try {
      const places = await this.#deps.membership.places(streams);
      this.#want(streams.filter((stream) => (places.get(stream) ?? NOWHERE).owner === null));
      await Promise.all(
        unplaced.map(({ stream, feed, mark }) => {
          // A client may have left, or this node may own the session by now.
          if (this.#feeds.get(stream) !== feed || feed.isOwn) return undefined;
          const place = places.get(stream) ?? NOWHERE;
          if (place.owner === this.#deps.membership.self) feed.presumeOwn(true);
          else if (place.owner !== null) return this.#attachOr(feed, place.owner, place, mark);
          else feed.begin(place.head, place.began);
          return undefined;
        }),
      );
    } catch (error) {
      this.#want(streams);
      // `check` looks them up again.
      for (const stream of streams) this.#deps.onError(stream, error);
    }
  }
}
