import { monitorEventLoopDelay } from 'node:perf_hooks';
import { openSqliteEventStore } from '../src/adapters/sqlite/log/sqlite-event-store.ts';
import { sqliteSnapshotStore } from '../src/adapters/sqlite/snapshots/sqlite-snapshot-store.ts';
import { createJsonLogger } from '../src/app/logger.ts';
import { LocalBus } from '../src/runtime/bus/local-bus.ts';
import { Journal } from '../src/runtime/sessions/journal.ts';
import { SessionFold } from '../src/runtime/sessions/session-fold.ts';
import { SessionSnapshots } from '../src/runtime/sessions/session-snapshots.ts';
import { filledLog, longSession } from './support/filled-log.ts';
import type { Report } from './support/report.ts';
import type { Scope } from './support/scope.ts';
import { rounded } from './support/statistics.ts';
import type { Row } from './support/table.ts';

export const question =
  'How long does a session of 100,000 events take to load, with a snapshot and without?';

/** The control is the first row, a load without a snapshot. Runs in this process, because only loading is measured. */
export async function run(scope: Scope): Promise<Report> {
  const events = scope.quick ? 10_000 : 100_000;
  const session = longSession(events);
  const directory = await filledLog(scope, { long: [{ events, sessions: 1 }] });
  const log = createJsonLogger('warn');
  const store = await openSqliteEventStore({ directory, log });
  scope.defer(() => store[Symbol.asyncDispose]());
  const snapshots = new SessionSnapshots(sqliteSnapshotStore({ directory, log }), log);
  scope.defer(() => snapshots[Symbol.asyncDispose]());
  const fold = new SessionFold(new Journal(store, new LocalBus(() => undefined)), snapshots);

  const load = () => fold.at(session);
  const rows = [await timed('load, without a snapshot', load)];
  const { state, last } = await load();
  if (!last) throw new Error('the session is empty');
  const save = async (): Promise<void> => {
    snapshots.follow(session, 0)(state, last);
    await snapshots.settled();
  };
  rows.push(await timed('save a snapshot, in the background', save));
  rows.push(await timed('load, with a snapshot', load));
  return { rows };
}

async function timed(what: string, work: () => Promise<unknown>): Promise<Row> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const before = process.cpuUsage();
  const begun = performance.now();
  const result = await work();
  const ms = performance.now() - begun;
  const { user, system } = process.cpuUsage(before);
  delay.disable();
  const heapMb = process.memoryUsage().heapUsed / 1e6;
  // Using the result here keeps it alive, so that it counts in the heap.
  if (result === null) throw new Error(`${what} gave nothing`);
  return {
    what,
    ms: rounded(ms),
    'CPU ms': rounded((user + system) / 1e3),
    'longest pause ms': rounded(delay.max / 1e6),
    'heap MB': rounded(heapMb),
  };
}
