import type { MachineState } from '../../core/machine-state.ts';
import type { MachineFilter, Unsubscribe } from '../../ports/bus.ts';
import type { NodeId } from '../../ports/membership.ts';
import type { LocalBus } from '../bus/local-bus.ts';
import type { Cluster } from './cluster.ts';

/** How often a watch is renewed, and after how long a node gives up one that is not: whoever watched is gone. */
const RENEW_MS = 2_000;
const GIVE_UP_MS = 3 * RENEW_MS;

interface Watch extends MachineFilter {
  /** Names the watch among all nodes. */
  readonly id: string;
  readonly node: NodeId;
}

interface Watched {
  readonly stop: Unsubscribe;
  readonly expiry: NodeJS.Timeout;
}

/** The states of the machines of an agent on all nodes. Each node has the machines of the turns that it runs. */
export class RemoteMachines {
  readonly #cluster: Cluster;
  readonly #local: LocalBus;
  readonly #prefix: string;
  readonly #listeners = new Map<string, (state: MachineState) => void>();
  /** What other nodes watch here. */
  readonly #watched = new Map<string, Watched>();
  #last = 0;

  constructor({ cluster, local, prefix }: { cluster: Cluster; local: LocalBus; prefix: string }) {
    this.#cluster = cluster;
    this.#local = local;
    this.#prefix = prefix;
    // The other nodes made the payloads here.
    cluster.onTold(this.#topic('watch'), (watch) => this.#watchHere(watch as Watch));
    cluster.onTold(this.#topic('unwatch'), (id) => this.#endHere(String(id)));
    cluster.onTold(this.#topic('state'), (told) => {
      const { id, state } = told as { id: string; state: MachineState };
      this.#listeners.get(id)?.(state);
    });
    cluster.onAsked(this.#topic('list'), async (filter) => this.#turnsHere(filter as MachineFilter));
  }

  /** The machines of the turns that other nodes run. */
  async list(filter: MachineFilter): Promise<MachineState[]> {
    const answers = await this.#cluster.askAll(this.#topic('list'), filter);
    return (answers as MachineState[][]).flat();
  }

  /** The listener gets the states that these machines are in, a moment later, and each state that follows. */
  watch(filter: MachineFilter, listener: (state: MachineState) => void): Unsubscribe {
    const { self } = this.#cluster.membership;
    this.#last += 1;
    const watch: Watch = { ...filter, id: `${self}.${this.#last}`, node: self };
    this.#listeners.set(watch.id, listener);
    const tell = (): void => this.#cluster.tell(this.#topic('watch'), watch);
    tell();
    const renewal = setInterval(tell, RENEW_MS).unref();
    return () => {
      clearInterval(renewal);
      this.#listeners.delete(watch.id);
      this.#cluster.tell(this.#topic('unwatch'), watch.id);
    };
  }

  #watchHere({ id, node, ...filter }: Watch): void {
    const known = this.#watched.get(id);
    if (known) {
      known.expiry.refresh();
      return;
    }
    const tell = (state: MachineState): void => {
      if (state.sessionId !== undefined) this.#cluster.tellOne(node, this.#topic('state'), { id, state });
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

  #topic(name: 'watch' | 'unwatch' | 'state' | 'list'): string {
    return `machines.${name}:${this.#prefix}`;
  }
}
