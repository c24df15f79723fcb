import type { MachineState } from '../../core/machine-state.ts';
import type { MachineFilter, Unsubscribe } from '../../ports/bus.ts';
import type { NodeId } from '../../ports/membership.ts';
import { nodeTopic } from '../../ports/peers.ts';
import type { LocalBus } from '../bus/local-bus.ts';
import type { Cluster } from './cluster.ts';
import type { NodeMessenger } from './node-messenger.ts';

/** How often a node renews its watches at the others. */
const RENEW_MS = 2_000;
/** A watch that was not renewed for this long is given up: the node that watched is gone. */
const GIVE_UP_MS = 3 * RENEW_MS;

interface Watch extends MachineFilter {
  /** Unique among all nodes. */
  readonly id: string;
  readonly node: NodeId;
}

interface WatchedState {
  /** The id of the watch. */
  readonly id: string;
  readonly state: MachineState;
}

interface Watched {
  readonly stop: Unsubscribe;
  readonly expiry: NodeJS.Timeout;
}

/** The states of the machines of an agent on all nodes. Each node has the machines of the turns that it runs. */
export class RemoteMachines {
  readonly #messenger: NodeMessenger;
  readonly #self: NodeId;
  readonly #local: LocalBus;
  readonly #topics: ReturnType<typeof topicsOf>;
  readonly #listeners = new Map<string, (state: MachineState) => void>();
  /** What other nodes watch here. */
  readonly #watched = new Map<string, Watched>();
  #last = 0;

  constructor({ cluster, local, prefix }: { cluster: Cluster; local: LocalBus; prefix: string }) {
    const { messenger, membership } = cluster;
    this.#messenger = messenger;
    this.#self = membership.self;
    this.#local = local;
    this.#topics = topicsOf(prefix);
    messenger.onTold(this.#topics.watch, (watch) => this.#watchHere(watch));
    messenger.onTold(this.#topics.unwatch, (id) => this.#endHere(id));
    messenger.onTold(this.#topics.state, ({ id, state }) => this.#listeners.get(id)?.(state));
    messenger.onAsked(this.#topics.list, async (filter) => this.#turnsHere(filter));
  }

  /** The machines of the turns that other nodes run. */
  async list(filter: MachineFilter): Promise<MachineState[]> {
    const answers = await this.#messenger.askAll(this.#topics.list, filter);
    return answers.flat();
  }

  /** The listener gets the current states of these machines, a moment later, and each state that follows. */
  watch(filter: MachineFilter, listener: (state: MachineState) => void): Unsubscribe {
    this.#last += 1;
    const watch: Watch = { ...filter, id: `${this.#self}.${this.#last}`, node: this.#self };
    this.#listeners.set(watch.id, listener);
    const tell = (): void => this.#messenger.tell(this.#topics.watch, watch);
    tell();
    const renewal = setInterval(tell, RENEW_MS).unref();
    return () => {
      clearInterval(renewal);
      this.#listeners.delete(watch.id);
      this.#messenger.tell(this.#topics.unwatch, watch.id);
    };
  }

  #watchHere({ id, node, ...filter }: Watch): void {
    const known = this.#watched.get(id);
    if (known) {
      known.expiry.refresh();
      return;
    }
    const tell = (state: MachineState): void => {
      if (state.sessionId !== undefined) this.#messenger.tellOne(node, this.#topics.state, { id, state });
    };
    const expiry = setTimeout(() => this.#endHere(id), GIVE_UP_MS).unref();
    this.#watched.set(id, { stop: this.#local.onMachines(filter, tell), expiry });
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
    state: nodeTopic<WatchedState>(`machines.state:${prefix}`),
    list: nodeTopic<MachineFilter, MachineState[]>(`machines.list:${prefix}`),
  };
}
