import { filledLog } from './support/filled-log.ts';
import { loadHttp, syncMessage } from './support/http-load.ts';
import { latencyColumns } from './support/measured.ts';
import type { Report } from './support/report.ts';
import { interleave, ratio, rowOf, type Sample, seriesOf } from './support/rounds.ts';
import type { Scope } from './support/scope.ts';
import {
  FLOOR,
  PLAIN,
  SERVICE,
  type Subject,
  startFloor,
  startPlain,
  startService,
} from './support/subjects.ts';

export const question = 'What does a session cost in memory and time, and do unused sessions cost anything?';

const IN_FLIGHT = 10;

export async function run(scope: Scope): Promise<Report> {
  const live = scope.quick ? 100 : 1_000;
  const many = scope.quick ? 2_000 : 100_000;
  const stored = (sessions: number) => ({
    name: nameOf(sessions),
    start: async () => {
      const dataDir = await filledLog(scope, { sessions });
      return startService(scope, { dataDir, name: nameOf(sessions) });
    },
  });
  const subjects = [
    // The controls have no log: for them every session is new.
    { name: FLOOR, start: () => startFloor(scope) },
    stored(live),
    stored(many),
    { name: PLAIN, start: () => startPlain(scope) },
  ];
  const all = await interleave(scope.quick ? 1 : 3, { live }, subjects, async ({ start }) =>
    touch(await start(), live, scope.quick ? 1 : undefined),
  );
  const [few, lots] = [seriesOf(all, nameOf(live)), seriesOf(all, nameOf(many))];
  const metrics = ['start ms', 'base RSS MB', 'KB/live session', 'p50 ms'];
  return {
    rows: all.map(rowOf),
    targets: metrics.map((metric) => ({
      what: `${metric} with ${many.toLocaleString('en-US')} sessions, relative to ${live.toLocaleString('en-US')}`,
      wanted: { atMost: 1.1 },
      measured: ratio(lots, few, metric),
    })),
  };
}

/** Sends a message to each of `live` sessions. The service loads them from its log. */
async function touch({ server }: Subject, live: number, looks: number | undefined): Promise<Sample> {
  const message = (prefix: string, total: number) => {
    const requestOf = (index: number) => syncMessage(`${prefix}${index}`);
    return loadHttp({ port: server.port, inFlight: IN_FLIGHT, total, requestOf });
  };
  // Warms up the code with sessions that are not in the log, so that the measured sessions are not loaded yet.
  await message('warm-', live);
  const before = await server.settledRssMb(looks);
  const { latencies = [] } = await message('s', live);
  const after = await server.settledRssMb(looks);
  await server.stop();
  return {
    'start ms': server.listenedAfterMs,
    'base RSS MB': before,
    'KB/live session': ((after - before) * 1024) / live,
    ...latencyColumns(latencies),
  };
}

function nameOf(sessions: number): string {
  return `${SERVICE}, ${sessions.toLocaleString('en-US')} in the log`;
}
