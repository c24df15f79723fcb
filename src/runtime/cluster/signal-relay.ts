import type { StreamId } from '../../core/log/streams.ts';
import type { SessionSignal } from '../../core/session/session-signal.ts';
import type { NodeId } from '../../ports/membership.ts';
import { type Clock, systemClock } from '../../timing/clock.ts';
import { encodeFeed, nodeSubject } from './node-messages.ts';
import type { Outbox } from './outbox.ts';
import { isPiece, SignalBatch } from './signal-batch.ts';

/**
 * After pieces of replies were sent, the next ones are gathered for so long. The first piece of a reply does not wait,
 * and most models send pieces further apart than this.
 */
const GATHER_MS = 5;
/** How soon a watching node notices that the last message was lost. */
const REMIND_MS = 1_000;

interface RelayDeps {
  readonly outbox: Pick<Outbox, 'publish' | 'soon'>;
  readonly self: NodeId;
  /** Tests simulate it. */
  readonly clock?: Clock | undefined;
}

/** A node that watches sessions of this node. */
interface Watcher {
  readonly streams: Set<StreamId>;
  /** Number of the last message. */
  n: number;
  isReminded: boolean;
}

/**
 * Sends the signals of this node's sessions to the nodes that watch them. A node gets at most one message in one turn of
 * the event loop, however many sessions and clients there are, and fewer while pieces of replies come fast.
 */
export class SignalRelay implements Disposable {
  readonly #deps: RelayDeps;
  readonly #clock: Clock;
  readonly #watchers = new Map<NodeId, Watcher>();
  readonly #byStream = new Map<StreamId, Set<NodeId>>();
  /** The signals that wait for the end of this turn of the event loop. */
  #waiting = new Map<StreamId, SignalBatch>();
  #isScheduled = false;
  /** The timer that runs while pieces are gathered. */
  #gathering: unknown = null;
  #reminder: unknown = null;

  constructor(deps: RelayDeps) {
    this.#deps = deps;
    this.#clock = deps.clock ?? systemClock;
  }

  /** @returns the number of the last message to the node, and whether it watched the stream already. */
  watch(stream: StreamId, node: NodeId): { readonly n: number; readonly wasWatched: boolean } {
    const watcher = this.#watchers.get(node) ?? {
      streams: new Set(),
      n: 0,
      isReminded: true,
    };
    this.#watchers.set(node, watcher);
    const wasWatched = watcher.streams.has(stream);
    watcher.streams.add(stream);
    const nodes = this.#byStream.get(stream) ?? new Set();
    this.#byStream.set(stream, nodes.add(node));
    this.#remindLater();
    return { n: watcher.n, wasWatched };
  }

  unwatch(streams: readonly StreamId[], node: NodeId): void {
    const watcher = this.#watchers.get(node);
    for (const stream of streams) {
      watcher?.streams.delete(stream);
      const nodes = this.#byStream.get(stream);
      nodes?.delete(node);
      if (nodes?.size === 0) this.#byStream.delete(stream);
    }
  }

  /** This node has given the session up, after its last signal. */
  end(stream: StreamId): void {
    if (this.#waiting.has(stream)) this.#flush();
    for (const node of this.#byStream.get(stream) ?? []) this.#watchers.get(node)?.streams.delete(stream);
    this.#byStream.delete(stream);
  }

  /** These nodes are gone and never come back. */
  forget(nodes: readonly NodeId[]): void {
    for (const node of nodes) {
      this.unwatch([...(this.#watchers.get(node)?.streams ?? [])], node);
      this.#watchers.delete(node);
    }
  }

  relay(stream: StreamId, signal: SessionSignal): void {
    if (!this.#byStream.has(stream)) return;
    const batch = this.#waiting.get(stream) ?? new SignalBatch();
    batch.add(signal);
    this.#waiting.set(stream, batch);
    if (isPiece(signal) && signal.offset > 0 && this.#gathering !== null) return;
    this.#flushSoon();
  }

  [Symbol.dispose](): void {
    this.#flush();
    this.#clock.clearTimeout(this.#gathering);
    this.#clock.clearTimeout(this.#reminder);
    this.#watchers.clear();
    this.#byStream.clear();
  }

  #flushSoon(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#deps.outbox.soon(() => this.#flush());
  }

  #flush(): void {
    this.#isScheduled = false;
    if ([...this.#waiting.values()].some(({ hasPieces }) => hasPieces)) this.#gather();
    const messages = new Map<NodeId, string[]>();
    for (const [stream, batch] of this.#waiting) {
      const text = `[${JSON.stringify(stream)},${batch.encode()}]`;
      for (const node of this.#byStream.get(stream) ?? []) {
        const items = messages.get(node);
        if (items) items.push(text);
        else messages.set(node, [text]);
      }
    }
    this.#waiting = new Map();
    for (const [node, items] of messages) {
      const watcher = this.#watchers.get(node);
      if (!watcher) continue;
      watcher.n += 1;
      watcher.isReminded = false;
      this.#publish(node, watcher.n, items.join(','));
    }
  }

  #gather(): void {
    this.#gathering ??= this.#clock.setTimeout(() => {
      this.#gathering = null;
      if (this.#waiting.size > 0) this.#flushSoon();
    }, GATHER_MS);
  }

  /** Repeats the number of the last message, so that a node notices if that message was lost. */
  #remindLater(): void {
    this.#reminder ??= this.#clock.setTimeout(() => {
      this.#reminder = null;
      for (const [node, watcher] of this.#watchers) {
        if (watcher.isReminded && watcher.streams.size === 0) continue;
        watcher.isReminded = true;
        this.#publish(node, watcher.n, '');
      }
      if ([...this.#watchers.values()].some(({ streams }) => streams.size > 0)) this.#remindLater();
    }, REMIND_MS);
  }

  #publish(node: NodeId, n: number, items: string): void {
    const { outbox, self } = this.#deps;
    outbox.publish(nodeSubject(node), encodeFeed({ from: self, n }, items));
  }
}
