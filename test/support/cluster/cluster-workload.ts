import { seededRandom } from '../project/seeded-random.ts';
import type { Cluster } from './cluster.ts';
import { ClusterUser } from './cluster-user.ts';
import {
  type ClusterWatcher,
  type Door,
  followWithClient,
  followWithEventSource,
  followWithWebSocket,
} from './cluster-watchers.ts';
import { Traffic } from './traffic.ts';

const SESSIONS = ['a', 'b', 'c'];

/** Two users and three watchers for each session, all of them through the balancer. */
export class ClusterWorkload implements Disposable {
  readonly users: readonly ClusterUser[];
  readonly watchers: readonly ClusterWatcher[];
  readonly traffic = new Traffic();
  readonly #over: Promise<unknown>;
  #isOver = false;

  constructor(cluster: Cluster, seed: number) {
    const door: Door = { url: cluster.url, traffic: this.traffic };
    const clients = SESSIONS.map((sessionId) => followWithClient(door, sessionId));
    this.watchers = [
      ...clients,
      ...SESSIONS.flatMap((id) => [followWithWebSocket(door, id), followWithEventSource(door, id)]),
    ];
    this.users = clients.flatMap((client, index) =>
      [1, 2].map((number) => {
        const random = seededRandom(seed + 10 * index + number);
        return new ClusterUser(`${client.sessionId}${number}`, client, cluster, random);
      }),
    );
    const talking = Promise.all(this.users.map((user) => user.talk(() => this.#isOver)));
    this.#over = Promise.race([talking, ...this.watchers.map(({ watching }) => watching)]);
    // `during` and `end` tell of it.
    this.#over.catch(() => undefined);
  }

  /** Waits for what the test does meanwhile. Rejects as soon as a client has seen something wrong. */
  async during<T>(work: Promise<T>): Promise<T> {
    const broken = this.#over.then(() => {
      throw new Error('the users or a watcher stopped by themselves');
    });
    return Promise.race([work, broken]);
  }

  /** Resolves when every user has its last answer. */
  async end(): Promise<void> {
    this.#isOver = true;
    await this.#over;
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    for (const watcher of this.watchers) watcher.stop();
  }
}
