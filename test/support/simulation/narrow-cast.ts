import { byTurn, checkTurn } from '../models/prescribed-turn.ts';
import { messageOf, pieceFaults } from '../sockets/prescribed-stream.ts';
import { endsTurn } from '../sockets/resuming-socket.ts';
import type { Cast } from './cast.ts';
import { prescribed } from './simulated-agent.ts';
import { SimulatedUser, SimulatedWatcher } from './simulated-clients.ts';
import type { SimulatedCluster } from './simulated-cluster.ts';
import type { World } from './world.ts';

const SESSIONS = ['s1', 's2'];

/** Users who send messages and cancel turns. */
export function narrowCast(world: World, cluster: SimulatedCluster): Cast {
  const users = ['ann', 'bob', 'cec'].map(
    (name, index) => new SimulatedUser(world, name, SESSIONS[index % 2] ?? 's1', cluster.any),
  );
  const watchers = ['w1', 'w2', 'w3'].map(
    (name, index) => new SimulatedWatcher(world, name, SESSIONS[index % 2] ?? 's1', cluster.any),
  );
  return {
    watch: (staysMs) => {
      for (const watcher of watchers) void watcher.watch(staysMs());
    },
    work: () => users.map((user) => user.work(1 + world.below(3), 1_500)),
    isSettled: () =>
      watchers.every(({ sessionId, record }) => {
        const stream = cluster.database.streams.get(sessionId);
        return !stream || (!stream.open && record.seq === stream.rows.length);
      }),
    describe: () =>
      watchers.map(({ name, sessionId, record }) => `${name} has ${record.seq} of ${sessionId}`),
    stop: () => {
      for (const watcher of watchers) watcher.stop();
    },
    check: () => check(cluster, users, watchers),
  };
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
