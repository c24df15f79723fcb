import { bundledControl, launcher } from './support/bundled-control.ts';
import { loadHttp, syncMessage } from './support/http-load.ts';
import type { Report } from './support/report.ts';
import { interleave, ratio, rowOf, type Sample, seriesOf, spreadOf } from './support/rounds.ts';
import type { Scope } from './support/scope.ts';
import { ServerProcess } from './support/server-process.ts';
import { agentFile, PLAIN, SERVICE, serviceArguments, serviceCommand } from './support/subjects.ts';

export const question = 'How much memory do many sessions of one message take, and does it stay bounded?';

const IN_FLIGHT = 50;

/** Bundled alike: code that is loaded as many files takes more memory. */
export async function run(scope: Scope): Promise<Report> {
  const [some, many] = scope.quick ? [200, 400] : [20_000, 100_000];
  const bundle = await bundledControl('plain');
  const command = serviceCommand();
  const subjects = [
    {
      name: SERVICE,
      start: () =>
        ServerProcess.start(command, { args: serviceArguments(agentFile(scope, {}), scope.directory()) }),
    },
    { name: PLAIN, start: () => ServerProcess.start(launcher, { args: [bundle] }) },
  ];
  const rows = await interleave(scope.quick ? 1 : 3, {}, subjects, ({ start }) =>
    memoryOf(scope, start, some, many),
  );
  const [service, plain] = [seriesOf(rows, SERVICE), seriesOf(rows, PLAIN)];
  return {
    rows: rows.map(rowOf),
    targets: [
      {
        what: `RSS after ${some} sessions, relative to ${PLAIN}`,
        wanted: { atMost: 1 },
        measured: ratio(service, plain, `RSS MB, ${some}`),
      },
      {
        what: `RSS after ${many} sessions, relative to ${some}`,
        wanted: { atMost: 1.1 },
        measured: spreadOf(service, 'growth'),
      },
    ],
  };
}

async function memoryOf(
  scope: Scope,
  start: () => Promise<ServerProcess>,
  some: number,
  many: number,
): Promise<Sample> {
  const server = await start();
  scope.defer(() => server.stop());
  const { port } = server;
  const speak = (from: number, to: number) =>
    loadHttp({
      port,
      inFlight: IN_FLIGHT,
      total: to - from,
      requestOf: (index) => syncMessage(`session-${from + index}`),
    });
  const base = server.rssMb();
  await speak(0, some);
  const afterSome = server.rssMb();
  await speak(some, many);
  const afterMany = server.rssMb();
  const sample = {
    'RSS MB, 0': base,
    [`RSS MB, ${some}`]: afterSome,
    [`RSS MB, ${many}`]: afterMany,
    growth: afterMany / afterSome,
  };
  await server.stop();
  return sample;
}
