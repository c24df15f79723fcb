import { FencedError } from '../../../src/core/log/fenced.ts';
import { StorageAwayError } from '../../../src/core/log/storage-away.ts';
import type { NodeId } from '../../../src/ports/membership.ts';
import { Fenced, type SimulatedDatabase } from './simulated-database.ts';
import type { Life, World } from './world.ts';

const FASTEST_MS = 0.3;
const SPREAD_MS = 3;
/** After which a node gives up to reach the database. */
const PATIENCE_MS = 1_000;

export const fenced = (): Error => new FencedError('another service has taken the log over');

/** How one node asks the database: each question and each answer takes its time, and may not arrive. */
export class NodeDatabase {
  readonly node: NodeId;
  readonly life: Life;
  readonly shared: SimulatedDatabase;
  /** Whether this node can reach the database. */
  isReachable = true;
  /** Most by which an answer is late, in milliseconds. */
  slowness = 0;
  /** Called once, when the node has lost its lease. */
  onFenced: () => void = () => undefined;
  readonly #world: World;

  constructor(world: World, shared: SimulatedDatabase, life: Life) {
    this.#world = world;
    this.shared = shared;
    this.life = life;
    this.node = shared.join();
  }

  /** Does the work in the database at one moment, unless it cannot be reached. */
  ask<T>(what: string, work: (database: SimulatedDatabase) => T): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const answer = (ms: number, said: string, settle: () => void): void =>
      void this.#world.plan(this.life, ms, said, settle);
    const away = (mayBeStored: boolean): void =>
      answer(this.#world.random() * PATIENCE_MS, `cannot ${what}`, () =>
        reject(new StorageAwayError('the database is away', { mayBeStored })),
      );
    // What was sent arrives also if the process dies meanwhile.
    const arrive = (): void => {
      if (!this.isReachable) {
        away(false);
        return;
      }
      const outcome = this.#attempt(work);
      // What was done is not always heard of.
      if (!this.isReachable) away(true);
      else
        answer(this.#duration(), what, () => {
          if (!this.isReachable && this.#world.chance(0.5))
            reject(new StorageAwayError('the database is away', { mayBeStored: true }));
          else if ('done' in outcome) resolve(outcome.done);
          else reject(this.#explained(outcome.error));
        });
    };
    this.#world.plan(null, this.#duration(), '', arrive, true);
    return promise;
  }

  #duration(): number {
    const slow = this.slowness > 0 && this.#world.chance(0.2) ? this.#world.random() * this.slowness : 0;
    return FASTEST_MS + this.#world.random() * SPREAD_MS + slow;
  }

  #attempt<T>(work: (database: SimulatedDatabase) => T): { done: T } | { error: unknown } {
    try {
      return { done: work(this.shared) };
    } catch (error) {
      return { error };
    }
  }

  #explained(error: unknown): unknown {
    if (!(error instanceof Fenced)) return error;
    this.onFenced();
    return fenced();
  }
}
