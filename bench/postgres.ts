import { PostgresServer } from '../test/support/postgres/postgres-server.ts';
import { writer } from './append.ts';
import type { Report } from './support/report.ts';
import { interleave, ratio, type Series, seriesOf, spreadOf } from './support/rounds.ts';
import type { Scope } from './support/scope.ts';
import { thisCheckout } from './support/version.ts';

export const question = 'How many events a second can be appended to a log in PostgreSQL?';

const LOG = 'event log in PostgreSQL';
/** Control: the same rows in the same batches, each inserted by one statement, without heads, checksums and lease. */
const ROWS = 'floor: bare insert, same batches';
const MAX_DELAY_MS = 5;

/** The server syncs each commit to the disk of this machine, and takes CPU time from the writers. */
export async function run(scope: Scope): Promise<Report> {
  const server = await PostgresServer.start({ fsync: true });
  scope.defer(() => server[Symbol.asyncDispose]());
  const rows = scope.isComparison ? [] : [{ name: ROWS, kind: 'postgres-rows', root: thisCheckout.root }];
  const subjects = [
    ...rows,
    ...scope.versions.map(({ root, ref }) => ({ name: LOG, ref, kind: 'postgres', root })),
  ];
  const all: Series[] = [];
  const ms = scope.quick ? 200 : 1_500;
  const counts = scope.quick ? [16] : [1, 16, 256];
  for (const writers of counts) {
    const measure = ({ kind, root }: { kind: string; root: string }) =>
      writer(scope, [kind, String(writers), String(ms), root, server.newUrl()]);
    all.push(...(await interleave(scope.rounds(3), { writers }, subjects, measure)));
  }
  return {
    series: all,
    targets: () =>
      counts.flatMap((writers) => [
        {
          what: `${writers} writers: events/s relative to bare inserts`,
          wanted: { atLeast: 0.5 },
          measured: ratio(seriesOf(all, LOG, { writers }), seriesOf(all, ROWS, { writers }), 'events/s'),
        },
        {
          what: `${writers} writers: p99 of the event loop delay, ms`,
          wanted: { atMost: MAX_DELAY_MS },
          measured: spreadOf(seriesOf(all, LOG, { writers }), 'loop delay p99 ms'),
        },
      ]),
  };
}
