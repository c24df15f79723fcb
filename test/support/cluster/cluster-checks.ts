import { expect } from 'vitest';
import type { ResumableFrame } from '../../../src/wire/frames.ts';
import { checkHistory } from '../crash/prescribed-history.ts';
import {
  checkForks,
  checkMessages,
  checkPayments,
  checkWatcher,
  type Log,
} from '../crash/workload-checks.ts';
import { prescribedWork } from '../crash/workload-script.ts';
import { pairingFaults } from '../log/paired-history.ts';
import { byTurn, checkTurn } from '../models/prescribed-turn.ts';
import { expectSame } from '../project/expect-same.ts';
import { listSessions, viewOf } from '../sessions/session-api.ts';
import { readLog } from '../sessions/session-log.ts';
import { messageOf } from '../sockets/prescribed-stream.ts';
import { endsTurn } from '../sockets/resuming-socket.ts';
import type { Cluster } from './cluster.ts';
import type { ClusterSent, ClusterUser } from './cluster-user.ts';
import type { ClusterWatcher } from './cluster-watchers.ts';
import type { ClusterWorkload } from './cluster-workload.ts';
import { awaited, withinMs } from './deadline.ts';
import { paidIn } from './ledger.ts';
import { answersOf } from './node-answer.ts';
import { replayed } from './text-socket.ts';

const IDLE_MS = 90_000;
const CATCH_UP_MS = 90_000;

/** Throws unless clients, tools and log agree, and every node tells the same. The users must have ended. */
export async function checkCluster(
  cluster: Cluster,
  workload: ClusterWorkload,
  ledger: string,
): Promise<void> {
  const logs = await readLogs(cluster);
  const sent = workload.users.flatMap((user) => user.sent);
  expect(sent.filter(({ isAcknowledged }) => isAcknowledged).length).toBeGreaterThan(workload.users.length);
  // A node that was paused reads what came before, also from connections that their clients have given up meanwhile.
  const unanswered = new Set(sent.flatMap((one) => (one.isAcknowledged ? [] : [one.content])));
  await checkMessages(sent, logs, { mayComeLate: (content) => unanswered.has(content) });
  checkRefused(sent, logs);
  await checkForks(
    workload.users.flatMap((user) => user.forks),
    logs,
  );
  await checkPayments(await paidIn(ledger), logs);
  checkResets(workload.users, logs);
  for (const watcher of workload.watchers)
    await checkFollower(cluster, watcher, logs.get(watcher.sessionId) ?? []);
  for (const [sessionId, log] of logs) await checkSession(cluster, sessionId, log);
  await checkTables(cluster, logs);
}

/** The logs of all sessions, once every turn has ended. */
export async function readLogs(cluster: Cluster): Promise<Map<string, Log>> {
  const sessions = await awaited(
    IDLE_MS,
    'all sessions are idle',
    () => listSessions(cluster, '?limit=1000'),
    (all) => all.every(({ status }) => status === 'idle'),
  );
  const logs = new Map<string, Log>();
  for (const { sessionId } of sessions) logs.set(sessionId, await readLog(cluster, sessionId));
  return logs;
}

/** Each turn is once there and as the script has it, and every node tells the same of it. */
export async function checkSession(cluster: Cluster, sessionId: string, log: Log): Promise<void> {
  expectSame(
    log.map(({ seq }) => seq),
    numbered(log),
    `the events of ${sessionId}`,
  );
  const texts = textsIn(log);
  expect(new Set(texts).size, `each message of ${sessionId} once`).toBe(texts.length);
  const turns = byTurn(log);
  for (const frames of turns.values()) {
    checkTurn(frames, prescribedWork(messageOf(frames)));
    expect(frames.filter(endsTurn)).toHaveLength(1);
  }
  const view = await viewOf(cluster, sessionId);
  expect(view).toMatchObject({
    status: 'idle',
    openTurnId: null,
    turns: { requested: texts.length, failed: 0, waiting: 0 },
  });
  expect(pairingFaults(view.history)).toEqual([]);
  checkHistory(view.history, log);
  await checkSameEverywhere(cluster, sessionId, log.length);
}

/** The same bytes from every node, and from the database. */
export async function checkSameEverywhere(cluster: Cluster, sessionId: string, head: number): Promise<void> {
  const path = `/api/sessions/${sessionId}`;
  const exports = await answersOf(cluster.nodes, `${path}/export`);
  const answers = [
    exports,
    await answersOf(cluster.nodes, path),
    await answersOf(cluster.nodes, `${path}/events?limit=1000`),
    await Promise.all(
      cluster.nodes.map((node) => replayed(node.socketUrl(`?session=${sessionId}&after=0`), head)),
    ),
  ];
  for (const [first, ...others] of answers)
    for (const other of others) expectSame(other, first, `of ${sessionId}, at every node`);
  expect(exports[0]).toMatchObject({ status: 200 });
}

/** What a client was told over all connections is what the log tells a client that comes now, character by character. */
async function checkFollower(cluster: Cluster, watcher: ClusterWatcher, log: Log): Promise<void> {
  const { name, sessionId, texts, record } = watcher;
  const what = (): string => `${name} of ${sessionId} has all ${log.length} events, not ${record.seq} only`;
  await withinMs(CATCH_UP_MS, what(), checkWatcher(watcher, log));
  const replay = await replayed(cluster.node(0).socketUrl(`?session=${sessionId}&after=0`), log.length);
  expectSame(texts, replay, name);
}

/** Nothing was recorded of what was refused. */
function checkRefused(sent: readonly ClusterSent[], logs: ReadonlyMap<string, Log>): void {
  const texts = new Map([...logs].map(([sessionId, log]) => [sessionId, new Set(textsIn(log))]));
  const recorded = sent.filter(
    ({ sessionId, content, isRefused }) => isRefused && texts.get(sessionId)?.has(content),
  );
  expect(recorded, 'refused, and yet recorded').toEqual([]);
}

function checkResets(users: readonly ClusterUser[], logs: ReadonlyMap<string, Log>): void {
  const sum = (of: (user: ClusterUser) => number): number => users.reduce((all, user) => all + of(user), 0);
  const sessions = [...logs].filter(([sessionId]) => !sessionId.startsWith('fork-'));
  const found = sessions.flatMap(([, log]) => log).filter(({ event }) => event === 'reset').length;
  expect(found).toBeGreaterThanOrEqual(sum(({ resets }) => resets.certain));
  expect(found).toBeLessThanOrEqual(sum(({ resets }) => resets.possible));
}

/** The tables have what the nodes tell, and each session had one owner at a time. */
async function checkTables(cluster: Cluster, logs: ReadonlyMap<string, Log>): Promise<void> {
  const seqs = await cluster.ownership.seqs();
  for (const [sessionId, log] of logs) expectSame(seqs.get(sessionId), numbered(log), sessionId);
  expect(await cluster.ownership.faults()).toEqual([]);
  const [longest] = [...logs].toSorted(([, one], [, other]) => other.length - one.length);
  if (!longest) throw new Error('there is no session');
  const [sessionId] = longest;
  const exported = await (await cluster.node(0).fetch(`/api/sessions/${sessionId}/export`)).text();
  expect(await cluster.exported(sessionId)).toBe(exported);
}

const numbered = (log: Log): number[] => log.map((_, index) => index + 1);

const textsIn = (log: Log): string[] =>
  log.flatMap((frame: ResumableFrame) => (frame.event === 'message' ? [frame.data.content] : []));
