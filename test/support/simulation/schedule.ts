import { StreamCursor } from '../../../src/core/session/stream-cursor.ts';
import { ShownMachines } from '../../../src/runtime/cluster/shown-machines.ts';
import { ToldSession } from '../../../src/runtime/cluster/told-session.ts';
import { KeyedRequests } from '../../../src/runtime/requests/keyed-requests.ts';
import { McpSupervisor } from '../../../src/runtime/tools/mcp-supervisor.ts';
import type { Cast } from './cast.ts';
import { fullCast } from './full/full-cast.ts';
import { narrowCast } from './narrow-cast.ts';
import { type Mutation, SimulatedCluster } from './simulated-cluster.ts';
import { takeTime } from './simulated-time.ts';
import { wideCast } from './wide/wide-cast.ts';
import { World } from './world.ts';

/** In which all must be told after the last misfortune. */
const SETTLE_MS = 60_000;
const MAX_MS = 300_000;

export interface Schedule {
  /** None, if all promises were kept. */
  readonly faults: readonly string[];
  /** All that happened, one line each. */
  readonly trace: () => readonly string[];
}

/**
 * `narrow`: clients send messages and cancel turns. `wide`: they do all that they can to sessions. `full`: some use the rest
 * of the service, too.
 */
export type ScheduleKind = 'narrow' | 'wide' | 'full';

const CASTS: Readonly<Record<ScheduleKind, (world: World, cluster: SimulatedCluster) => Cast>> = {
  narrow: narrowCast,
  wide: wideCast,
  full: fullCast,
};

export interface ScheduleOptions {
  readonly kind?: ScheduleKind;
  readonly mutation?: Mutation | undefined;
}

/** Lets one cluster live through what the seed says, and checks what its clients, its tools and its log have. */
export async function runSchedule(
  seed: number,
  { kind = 'narrow', mutation }: ScheduleOptions = {},
): Promise<Schedule> {
  const world = new World(seed);
  const cluster = new SimulatedCluster(world, { mutation, isFull: kind === 'full' });
  const cast = CASTS[kind](world, cluster);
  const restore = mutation === undefined ? () => undefined : mutate(mutation);
  try {
    const weather = { lost: chosen(world), doubled: chosen(world), late: chosen(world) };
    const all = async (): Promise<void> => {
      cast.watch(() => world.pick([500, 3_000, 20_000]));
      const working = cast.work();
      await cluster.suffer(1 + world.below(3), weather);
      await Promise.all(working);
    };
    let isOver = false;
    world.plan(null, 0, '', () => {
      all().then(
        () => {
          isOver = true;
        },
        (error: unknown) => world.faults.push(String(error)),
      );
    });
    if (!(await world.run(() => isOver || world.faults.length > 0, MAX_MS)))
      world.faults.push('the users are not done');
    const isOk = (): boolean => world.faults.length === 0;
    if (isOk() && !(await world.run(() => cast.isSettled() || !isOk(), SETTLE_MS)))
      world.faults.push(`not all is told: ${[...streamsOf(cluster), ...cast.describe()].join(', ')}`);
    cast.stop();
    if (isOk()) world.faults.push(...cast.check());
  } finally {
    restore();
    for (const { life } of cluster.nodes) life.die();
    takeTime(null);
  }
  return { faults: world.faults, trace: () => world.trace() };
}

/** Takes out what is part of the runtime. @returns a function that puts it back. */
function mutate(mutation: Mutation): () => void {
  const { skipsTo } = StreamCursor.prototype;
  const { compare } = ToldSession.prototype;
  const { once } = KeyedRequests.prototype;
  const { hear } = ShownMachines.prototype;
  const { follow } = McpSupervisor.prototype;
  if (mutation === 'the sequence checks of a resume') StreamCursor.prototype.skipsTo = () => false;
  if (mutation === 'the look for another session') ToldSession.prototype.compare = () => false;
  if (mutation === 'the keys of requests')
    KeyedRequests.prototype.once = function (identity, prepare) {
      return once.call(this, { ...identity, key: undefined }, prepare) as Promise<never>;
    };
  if (mutation === 'the numbers of statecharts')
    ShownMachines.prototype.hear = function ({ node, states }) {
      for (const state of states) this.take(node, state);
    };
  if (mutation === 'the tool servers of other nodes') McpSupervisor.prototype.follow = async () => undefined;
  return () => {
    ShownMachines.prototype.hear = hear;
    McpSupervisor.prototype.follow = follow;
    StreamCursor.prototype.skipsTo = skipsTo;
    ToldSession.prototype.compare = compare;
    KeyedRequests.prototype.once = once;
  };
}

/** Most schedules have fair weather of a kind. */
function chosen(world: World): number {
  return world.chance(0.3) ? world.random() * 0.1 : 0;
}

function streamsOf({ database }: SimulatedCluster): string[] {
  return [...database.streams].map(
    ([id, { rows, open, owner, epoch }]) =>
      `${id} (${rows.length} events, ${open ? 'open' : 'closed'}, node ${owner}, epoch ${epoch})`,
  );
}
