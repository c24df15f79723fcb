import { monitorEventLoopDelay } from 'node:perf_hooks';
import { openSqliteEventStore } from '../src/adapters/sqlite/log/sqlite-event-store.ts';
import { sqliteSnapshotStore } from '../src/adapters/sqlite/snapshots/sqlite-snapshot-store.ts';
import { createJsonLogger } from '../src/app/logger.ts';
import { logReaders } from '../src/app/memory-budgets.ts';
import { LocalBus } from '../src/runtime/bus/local-bus.ts';
import { Journal } from '../src/runtime/sessions/journal.ts';
import { SessionFold } from '../src/runtime/sessions/session-fold.ts';
import { SessionSnapshots } from '../src/runtime/sessions/session-snapshots.ts';
import { filledLog, longSession } from './support/filled-log.ts';
import type { Report } from './support/report.ts';
import type { Series } from './support/rounds.ts';
import type { Scope } from './support/scope.ts';

export const question =
  'How long does a session of 100,000 events take to load, with a snapshot and without?';

export const notComparable = 'it loads the session in its own process, with the sources of this checkout';

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
  const fold = new SessionFold({
    journal: new Journal(store, new LocalBus(() => undefined)),
    snapshots,
    readers: logReaders(),
  });

  const load = () => fold.at(session);
  const series = [await timed('load, without a snapshot', load)];
  const { state, last } = await load();
  if (!last) throw new Error('the session is empty');
  const save = async (): Promise<void> => {
    snapshots.follow(session, 0)(state, last);
    await snapshots.settled();
  };
  series.push(await timed('save a snapshot, in the background', save));
  series.push(await timed('load, with a snapshot', load));
  return { series };
}

async function timed(what: string, work: () => Promise<unknown>): Promise<Series> {
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
  const sample = {
    ms,
    'CPU ms': (user + system) / 1e3,
    'longest pause ms': delay.max / 1e6,
    'heap MB': heapMb,
  };
  return { labels: {}, subject: what, samples: [sample] };
}
