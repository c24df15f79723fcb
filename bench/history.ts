import { filledLog } from './support/filled-log.ts';
import { loadHttp, syncMessage } from './support/http-load.ts';
import { measured } from './support/measured.ts';
import type { Report, Target } from './support/report.ts';
import { interleave, ratio, rowOf, type Series, seriesOf } from './support/rounds.ts';
import type { Scope } from './support/scope.ts';
import type { ServerProcess } from './support/server-process.ts';
import { SERVICE, startFloor, startPlain, startService } from './support/subjects.ts';

export const question = 'Does a message cost the same in a session of 10, 1,000 and 100,000 events?';

const SHORTEST = 10;

export async function run(scope: Scope): Promise<Report> {
  const lengths = scope.quick ? [SHORTEST, 1_000] : [SHORTEST, 1_000, 100_000];
  const long = Object.fromEntries(lengths.map((events) => [sessionOf(events), events]));
  const service = await startService(scope, { dataDir: await filledLog(scope, { long }) });
  // The controls know no log: theirs is what a message costs without any history.
  const subjects = [
    await startFloor(scope),
    ...lengths.map((events) => ({ ...service, name: nameOf(events), session: sessionOf(events) })),
    await startPlain(scope),
  ].map((subject) => ({ session: 'short', ...subject }));
  const total = scope.quick ? 50 : 500;
  // Loads the sessions, too.
  for (const { server, session } of subjects) await load(server, session, total);
  const all = await interleave(scope.quick ? 1 : 5, {}, subjects, ({ server, session }) =>
    load(server, session, total),
  );
  return { rows: all.map(rowOf), targets: lengths.slice(1).flatMap((events) => targets(all, events)) };
}

function load(server: ServerProcess, session: string, total: number) {
  const requestOf = () => syncMessage(session);
  return measured(server, 'message', () => loadHttp({ port: server.port, inFlight: 1, total, requestOf }));
}

function targets(all: readonly Series[], events: number): Target[] {
  return ['p50 ms', 'CPU µs/message'].map((metric) => ({
    what: `${metric} with ${events.toLocaleString('en-US')} events over ${SHORTEST}`,
    wanted: { atMost: 1.2 },
    measured: ratio(seriesOf(all, nameOf(events)), seriesOf(all, nameOf(SHORTEST)), metric),
  }));
}

function nameOf(events: number): string {
  return `${SERVICE}, ${events.toLocaleString('en-US')} events`;
}

function sessionOf(events: number): string {
  return `long-${events}`;
}
