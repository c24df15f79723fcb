import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { openSqliteEventStore } from '../src/adapters/sqlite/sqlite-event-store.ts';
import { sqliteSnapshotStore } from '../src/adapters/sqlite/sqlite-snapshot-store.ts';
import { createLog } from '../src/app/logger.ts';
import type { SessionEvent } from '../src/contract/events.ts';
import { IDEMPOTENCY_TTL_MS } from '../src/domain/idempotency.ts';
import type { EventStore } from '../src/ports/event-store.ts';
import { Bus } from '../src/runtime/bus.ts';
import { Journal } from '../src/runtime/journal.ts';
import { SessionFold } from '../src/runtime/session-fold.ts';
import { SessionSnapshots } from '../src/runtime/session-snapshots.ts';
import { loadHttp } from './support/http-load.ts';
import { ServerProcess } from './support/server-process.ts';

export const question =
  'Does a session of 100,000 events load quickly, and answer as quickly as a short one?';

export type Row = Record<string, string | number>;

const EVENTS_PER_TURN = 4;

export async function run({ quick }: { quick: boolean }): Promise<Row[]> {
  const directory = mkdtempSync(join(tmpdir(), 'agent-service-bench-'));
  try {
    const loading = await loadAgain(directory, quick ? 10_000 : 100_000);
    return [...loading, ...(await roundTrips(directory, quick ? 100 : 2_000))];
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** The control first: without a snapshot. */
async function loadAgain(directory: string, events: number): Promise<Row[]> {
  const log = createLog('warn');
  const store = await openSqliteEventStore({ directory, log });
  const snapshots = new SessionSnapshots(sqliteSnapshotStore({ directory, log }), log);
  const fold = new SessionFold(new Journal(store, new Bus(() => undefined)), snapshots);
  try {
    await fill(store, 'short', 10);
    await fill(store, 'long', events);
    const load = () => fold.at('long');
    const rows = [await measured('load, without a snapshot', load)];
    const { state, last } = await load();
    if (!last) throw new Error('the session is empty');
    const save = async (): Promise<void> => {
      snapshots.follow('long', 0)(state, last);
      await snapshots.settled();
    };
    rows.push(await measured('save a snapshot, in the background', save));
    rows.push(await measured('load, with a snapshot', load));
    return rows;
  } finally {
    await snapshots[Symbol.asyncDispose]();
    await store[Symbol.asyncDispose]();
  }
}

async function roundTrips(directory: string, requests: number): Promise<Row[]> {
  const file = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
  const options = ['--agent', file('agent.yml'), '--web-port', '0', '--data-dir', directory];
  const server = await ServerProcess.start(file('../src/app/main.ts'), [...options, '--log-level', 'silent']);
  try {
    const rows: Row[] = [];
    for (const sessionId of ['short', 'long', 'short', 'long']) {
      const body = JSON.stringify({ message: 'hello', sessionId });
      await loadHttp(server.port, '/api/message-sync', 1, 10, () => body);
      const { latencies } = await loadHttp(server.port, '/api/message-sync', 1, requests, () => body);
      const at = (share: number): number => round(latencies[Math.floor(latencies.length * share)] ?? 0);
      rows.push({ what: `message to the ${sessionId} session`, ms: at(0.5), 'p99 ms': at(0.99) });
    }
    return rows;
  } finally {
    await server.stop();
  }
}

async function measured(what: string, work: () => Promise<unknown>): Promise<Row> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const before = process.cpuUsage();
  const begun = performance.now();
  const result = await work();
  const ms = round(performance.now() - begun);
  const { user, system } = process.cpuUsage(before);
  delay.disable();
  const heapMb = Math.round(process.memoryUsage().heapUsed / 1e6);
  // Used here, so that it counts in the heap.
  if (result === null) throw new Error(`${what} gave nothing`);
  const cpuMs = Math.round((user + system) / 1e3);
  return { what, ms, 'CPU ms': cpuMs, 'longest pause ms': round(delay.max / 1e6), 'heap MB': heapMb };
}

async function fill(store: EventStore, sessionId: string, events: number): Promise<void> {
  for (let seq = 0; seq < events; ) {
    const turns = Math.min(250, Math.ceil((events - seq) / EVENTS_PER_TURN));
    const batch = Array.from({ length: turns }, () => turn()).flat();
    await store.append(sessionId, seq, batch, { open: false });
    seq += batch.length;
  }
}

/** A question of a hundred characters with an idempotency key, an answer of four hundred. */
function turn(): SessionEvent[] {
  const turnId = crypto.randomUUID();
  const content = 'an answer, '.repeat(36);
  const key = { id: turnId, fingerprint: 'the same', expiresAt: Date.now() + IDEMPOTENCY_TTL_MS };
  return [
    { type: 'turn.requested', turnId, text: 'a question, '.repeat(8), key },
    { type: 'turn.started', turnId },
    { type: 'step.completed', turnId, step: 1, text: content, separator: '', callIds: [] },
    { type: 'turn.completed', turnId, content },
  ];
}

function round(ms: number): number {
  return Math.round(ms * 10) / 10;
}
