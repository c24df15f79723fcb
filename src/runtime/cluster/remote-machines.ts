import type { MachineState } from '../../core/machine-state.ts';
import type { MachineFilter, Unsubscribe } from '../../ports/bus.ts';
import type { Membership, NodeId } from '../../ports/membership.ts';
import { nodeTopic } from '../../ports/peers.ts';
import type { LocalBus } from '../bus/local-bus.ts';
import type { Cluster } from './cluster.ts';
import type { NodeMessenger } from './node-messenger.ts';
import { type MachineNews, ShownMachines } from './shown-machines.ts';

/** How often a node renews its watches at the others. */
const RENEW_MS = 2_000;
/** A watch that was not renewed for this long is given up: the node that watched is gone. */
const GIVE_UP_MS = 3 * RENEW_MS;

interface Watch extends MachineFilter {
  /** Unique among all nodes. */
  readonly id: string;
  readonly node: NodeId;
  /** The number of the last news of each node. */
  readonly heard: Readonly<Record<NodeId, number>>;
}

interface WatchedNews extends MachineNews {
  /** The id of the watch. */
  readonly id: string;
}

interface Watched {
  readonly stop: Unsubscribe;
  readonly expiry: NodeJS.Timeout;
  /** Tells all if the last news that was heard has another number. */
  readonly compare: (heard: number) => void;
}

/** The states of the machines of an agent on all nodes. Each node has the machines of the turns that it runs. */
export class RemoteMachines {
  readonly #membership: Membership;
  readonly #messenger: NodeMessenger;
  readonly #self: NodeId;
  readonly #local: LocalBus;
  readonly #topics: ReturnType<typeof topicsOf>;
  readonly #shown = new Map<string, ShownMachines>();
  /** What other nodes watch here. */
  readonly #watched = new Map<string, Watched>();
  #last = 0;

  constructor({ cluster, local, prefix }: { cluster: Cluster; local: LocalBus; prefix: string }) {
    const { messenger, membership } = cluster;
    this.#membership = membership;
    this.#messenger = messenger;
    this.#self = membership.self;
    this.#local = local;
    this.#topics = topicsOf(prefix);
    messenger.onTold(this.#topics.watch, (watch) => this.#watchHere(watch));
    messenger.onTold(this.#topics.unwatch, (id) => this.#endHere(id));
    messenger.onTold(this.#topics.news, ({ id, ...news }) => this.#shown.get(id)?.hear(news));
    messenger.onAsked(this.#topics.list, async (filter) => this.#turnsHere(filter));
  }

  /** The machines of the turns that other nodes run. */
  async list(filter: MachineFilter): Promise<MachineState[]> {
    const answers = await this.#messenger.askAll(this.#topics.list, filter);
    return answers.flat();
  }

  /**
   * The listener gets the current states of the machines of this node before this returns, those of the others a moment
   * later, and each state that follows. A state that was lost on its way follows with the next renewal of the watch.
   */
  watch(filter: MachineFilter, listener: (state: MachineState) => void): Unsubscribe {
    this.#last += 1;
    const id = `${this.#self}.${this.#last}`;
    const tell = (): void => {
      const watch = { ...filter, id, node: this.#self, heard: shown.heard };
      this.#messenger.tell(this.#topics.watch, watch);
    };
    const shown = new ShownMachines(listener, tell);
    this.#shown.set(id, shown);
    const stops = [
      this.#local.onMachines(filter, (state) => shown.take(this.#self, state)),
      this.#membership.onRenewed(() =>
        shown.keepNodes((node) => node === this.#self || this.#membership.living.has(node)),
      ),
    ];
    tell();
    const renewal = setInterval(tell, RENEW_MS).unref();
    return () => {
      for (const stop of stops) stop();
      clearInterval(renewal);
      this.#shown.delete(id);
      this.#messenger.tell(this.#topics.unwatch, id);
    };
  }

  #watchHere({ id, node, heard, ...filter }: Watch): void {
    const last = heard[this.#self] ?? 0;
    const known = this.#watched.get(id);
    if (known) {
      known.expiry.refresh();
      known.compare(last);
      return;
    }
    let n = last;
    const tell = (states: readonly MachineState[], isAll: boolean): void => {
      n += 1;
      this.#messenger.tellOne(node, this.#topics.news, { id, node: this.#self, n, states, isAll });
    };
    tell(this.#turnsHere(filter), true);
    let isBegun = false;
    const stop = this.#local.onMachines(filter, (state) => {
      if (isBegun && state.sessionId !== undefined) tell([state], false);
    });
    isBegun = true;
    const expiry = setTimeout(() => this.#endHere(id), GIVE_UP_MS).unref();
    const compare = (number: number): void => {
      if (number !== n) tell(this.#turnsHere(filter), true);
    };
    this.#watched.set(id, { stop, expiry, compare });
  }

  #endHere(id: string): void {
    const watched = this.#watched.get(id);
    if (!watched) return;
    clearTimeout(watched.expiry);
    watched.stop();
    this.#watched.delete(id);
  }

  /** Tool servers are left out: each node has its own. */
  #turnsHere(filter: MachineFilter): MachineState[] {
    return this.#local.listNow(filter).filter(({ sessionId }) => sessionId !== undefined);
  }
}

/** @param prefix what the streams of the agent begin with: each agent has topics of its own. */
function topicsOf(prefix: string) {
  return {
    watch: nodeTopic<Watch>(`machines.watch:${prefix}`),
    /** Told with the id of the watch. */
    unwatch: nodeTopic<string>(`machines.unwatch:${prefix}`),
    news: nodeTopic<WatchedNews>(`machines.news:${prefix}`),
    list: nodeTopic<MachineFilter, MachineState[]>(`machines.list:${prefix}`),
  };
}
