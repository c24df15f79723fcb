import { inEachVersion } from './support/contenders.ts';
import { filledLog } from './support/filled-log.ts';
import { loadHttp, syncMessage } from './support/http-load.ts';
import { latencyColumns } from './support/measured.ts';
import type { Report } from './support/report.ts';
import { interleave, ratio, type Sample, seriesOf } from './support/rounds.ts';
import type { Scope } from './support/scope.ts';
import type { ServerProcess } from './support/server-process.ts';
import { floor, plain, SERVICE, startSources } from './support/subjects.ts';

export const question = 'What does a session cost in memory and time, and do unused sessions cost anything?';

const IN_FLIGHT = 10;

export async function run(scope: Scope): Promise<Report> {
  const live = scope.quick ? 100 : 1_000;
  const many = scope.quick ? 2_000 : 100_000;
  const stored = (sessions: number) =>
    inEachVersion(scope, nameOf(sessions), async (version) =>
      startSources(scope, version, { dataDir: await filledLog(scope, { sessions }) }),
    );
  // The controls have no log: for them every session is new.
  const contenders = [floor(scope), stored(live), stored(many), plain(scope)];
  const all = await interleave(scope.rounds(3), { live }, contenders.flat(), async ({ start }) =>
    touch(await start(), live, scope.quick ? 1 : undefined),
  );
  const metrics = ['start ms', 'base RSS MB', 'KB/live session', 'p50 ms'];
  return {
    series: all,
    targets: () =>
      metrics.map((metric) => ({
        what: `${metric} with ${many.toLocaleString('en-US')} sessions, relative to ${live.toLocaleString('en-US')}`,
        wanted: { atMost: 1.1 },
        measured: ratio(seriesOf(all, nameOf(many)), seriesOf(all, nameOf(live)), metric),
      })),
  };
}

/** Sends a message to each of `live` sessions. The service loads them from its log. */
async function touch(server: ServerProcess, live: number, looks: number | undefined): Promise<Sample> {
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
