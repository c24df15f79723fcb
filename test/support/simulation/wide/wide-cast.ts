import type { Cast } from '../cast.ts';
import type { SimulatedCluster } from '../simulated-cluster.ts';
import type { World } from '../world.ts';
import { Approver } from './approver.ts';
import { Deeds } from './deeds.ts';
import { Lives } from './lives.ts';
import { checkWide } from './wide-checks.ts';
import { WideUser } from './wide-user.ts';
import { WideWatcher } from './wide-watcher.ts';

const SESSIONS = ['s1', 's2'];

/** Clients that do all that clients can do to sessions. */
export function wideCast(world: World, { any, database, ledger }: SimulatedCluster): Cast {
  const lives = new Lives(database.lives);
  const deeds = new Deeds();
  const sessions = [...SESSIONS];
  const users = ['ann', 'bob', 'cec'].map(
    (name) => new WideUser(name, { world, lives, choose: any, deeds, sessions }),
  );
  const watchers = ['w1', 'w2', 'w3'].map(
    (name, index) => new WideWatcher(world, lives, name, SESSIONS[index % 2] ?? 's1', any),
  );
  const approver = new Approver(world, lives, any);
  return {
    watch: (staysMs) => {
      for (const watcher of watchers) void watcher.watch(staysMs());
      void approver.work();
    },
    work: () => users.map((user) => user.work(1 + world.below(4), 1_500)),
    isSettled: () =>
      [...database.streams.values()].every(({ open }) => !open) &&
      watchers.every(({ isUpToDate }) => isUpToDate),
    describe: () => watchers.map((watcher) => watcher.describe()),
    stop: () => {
      for (const watcher of watchers) watcher.stop();
      approver.stop();
    },
    check: () => checkWide({ lives, ledger, deeds, decisions: approver.decisions, watchers }),
  };
}
