import { StreamCursor } from '../../../src/core/session/stream-cursor.ts';
import { byTurn, checkTurn } from '../models/prescribed-turn.ts';
import { messageOf, pieceFaults } from '../sockets/prescribed-stream.ts';
import { endsTurn } from '../sockets/resuming-socket.ts';
import { prescribed } from './simulated-agent.ts';
import { SimulatedUser, SimulatedWatcher } from './simulated-clients.ts';
import { type Mutation, SimulatedCluster } from './simulated-cluster.ts';
import { takeTime } from './simulated-time.ts';
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

/** Lets one cluster live through what the seed says, and checks what its clients, its tools and its log have. */
export async function runSchedule(seed: number, mutation: Mutation | null = null): Promise<Schedule> {
  const world = new World(seed);
  const cluster = new SimulatedCluster(world, mutation);
  const sessions = ['s1', 's2'];
  const users = ['ann', 'bob', 'cec'].map(
    (name, index) => new SimulatedUser(world, name, sessions[index % 2] ?? 's1', cluster.any),
  );
  const watchers = ['w1', 'w2', 'w3'].map(
    (name, index) => new SimulatedWatcher(world, name, sessions[index % 2] ?? 's1', cluster.any),
  );
  const { skipsTo } = StreamCursor.prototype;
  if (mutation === 'the sequence checks of a resume') StreamCursor.prototype.skipsTo = () => false;
  try {
    const weather = { lost: chosen(world), doubled: chosen(world), late: chosen(world) };
    const all = async (): Promise<void> => {
      for (const watcher of watchers) void watcher.watch(world.pick([500, 3_000, 20_000]));
      const working = users.map((user) => user.work(1 + world.below(3), 1_500));
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
    const isSettled = (): boolean =>
      watchers.every(({ sessionId, record }) => {
        const stream = cluster.database.streams.get(sessionId);
        return !stream || (!stream.open && record.seq === stream.rows.length);
      });
    if (
      world.faults.length === 0 &&
      !(await world.run(() => isSettled() || world.faults.length > 0, SETTLE_MS))
    )
      world.faults.push(`not all is told: ${describe(cluster, watchers)}`);
    for (const watcher of watchers) watcher.stop();
    if (world.faults.length === 0) world.faults.push(...check(cluster, users, watchers));
  } finally {
    StreamCursor.prototype.skipsTo = skipsTo;
    for (const { life } of cluster.nodes) life.die();
    takeTime(null);
  }
  return { faults: world.faults, trace: () => world.trace() };
}

/** Most schedules have fair weather of a kind. */
function chosen(world: World): number {
  return world.chance(0.3) ? world.random() * 0.1 : 0;
}

function check(
  { database, ledger }: SimulatedCluster,
  users: readonly SimulatedUser[],
  watchers: readonly SimulatedWatcher[],
): string[] {
  const faults: string[] = [];
  const attempt = (work: () => void): void => {
    try {
      work();
    } catch (error) {
      faults.push(error instanceof Error ? error.message : String(error));
    }
  };
  if (new Set(ledger.paid).size !== ledger.paid.length) faults.push(`paid twice: ${ledger.paid.join(', ')}`);
  for (const [sessionId, { rows }] of database.streams) {
    if (sessionId.startsWith('~')) continue;
    const [first, ...others] = watchers.filter((watcher) => watcher.sessionId === sessionId);
    const sent = users.filter((user) => user.sessionId === sessionId).flatMap((user) => user.sent);
    if (!first) throw new Error(`nobody watches ${sessionId}`);
    for (const { name, texts } of others)
      if (texts.join('\n') !== first.texts.join('\n'))
        faults.push(`${name} was told otherwise than ${first.name}`);
    const log = first.record.events;
    if (log.length !== rows.length) faults.push(`${sessionId} has ${rows.length} events`);
    for (const { name, record } of watchers.filter((watcher) => watcher.sessionId === sessionId))
      for (const fault of pieceFaults(record.pieces, log, prescribed)) faults.push(`${name}: ${fault}`);
    const contents = log.flatMap((frame) => (frame.event === 'message' ? [frame.data.content] : []));
    if (new Set(contents).size !== contents.length) faults.push(`doubled: ${contents.join(', ')}`);
    for (const { content, isAcknowledged, isRefused } of sent) {
      if (isAcknowledged && !contents.includes(content)) faults.push(`lost: ${content}`);
      if (isRefused && contents.includes(content)) faults.push(`refused and recorded: ${content}`);
    }
    for (const user of users) {
      const acknowledged = new Set(
        user.sent.filter((message) => message.isAcknowledged).map(({ content }) => content),
      );
      const own = contents.filter(
        (content) => content.startsWith(`work ${user.name}-`) && acknowledged.has(content),
      );
      if (own.join() !== own.toSorted().join()) faults.push(`out of order: ${own.join(', ')}`);
    }
    for (const frames of byTurn(log).values()) {
      attempt(() => checkTurn(frames, prescribed(messageOf(frames))));
      if (frames.filter(endsTurn).length !== 1) faults.push(`${messageOf(frames)} has no end, or several`);
    }
    for (const frame of log) {
      if (frame.event !== 'toolResult' || frame.data.toolName !== 'pay' || frame.data.error !== undefined)
        continue;
      const message = messageOf(log.filter(({ turnId }) => turnId === frame.turnId));
      const id = message.slice('work '.length);
      if (!ledger.paid.includes(id)) faults.push(`${id} was not paid`);
    }
  }
  return faults;
}

function describe({ database }: SimulatedCluster, watchers: readonly SimulatedWatcher[]): string {
  const sessions = [...database.streams].map(
    ([id, { rows, open, owner, epoch }]) =>
      `${id} (${rows.length} events, ${open ? 'open' : 'closed'}, node ${owner}, epoch ${epoch})`,
  );
  return [
    ...sessions,
    ...watchers.map(({ name, sessionId, record }) => `${name} has ${record.seq} of ${sessionId}`),
  ].join(', ');
}
