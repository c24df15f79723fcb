import type { Cast } from '../cast.ts';
import type { SimulatedCluster } from '../simulated-cluster.ts';
import { wideCast } from '../wide/wide-cast.ts';
import type { World } from '../world.ts';
import type { Companion } from './companion.ts';
import { ServerOperator } from './server-operator.ts';
import { StatechartWatcher } from './statechart-watcher.ts';

/** The clients of a wide schedule, and some who do what has to do with the whole service. */
export function fullCast(world: World, cluster: SimulatedCluster): Cast {
  const wide = wideCast(world, cluster);
  const companions: readonly Companion[] = [
    new StatechartWatcher(world, 'chart1', cluster),
    new StatechartWatcher(world, 'chart2', cluster),
    new ServerOperator(world, 'added', cluster),
    new ServerOperator(world, 'extra', cluster),
  ];
  return {
    watch: (staysMs) => wide.watch(staysMs),
    work: () => [...wide.work(), ...companions.map((companion) => companion.work())],
    isSettled: () => wide.isSettled() && companions.every((companion) => companion.isSettled()),
    describe: () => [...wide.describe(), ...companions.map((companion) => companion.describe())],
    stop: () => {
      wide.stop();
      for (const companion of companions) companion.stop();
    },
    check: () => [...wide.check(), ...companions.flatMap((companion) => companion.check())],
  };
}
