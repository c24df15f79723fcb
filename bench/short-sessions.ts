import { bundledControl } from './support/bundled-control.ts';
import { type Contender, inEachVersion } from './support/contenders.ts';
import { loadHttp, syncMessage } from './support/http-load.ts';
import type { Report } from './support/report.ts';
import { interleave, ratio, type Sample, seriesOf, spreadOf } from './support/rounds.ts';
import type { Scope } from './support/scope.ts';
import {
  agentFile,
  PLAIN,
  PLAIN_HTTP,
  SERVICE,
  serviceArguments,
  serviceCommand,
  started,
} from './support/subjects.ts';

export const question = 'How much memory do many sessions of one message take, and does it stay bounded?';

const IN_FLIGHT = 50;

/** Bundled alike: code that is loaded as many files takes more memory. */
export async function run(scope: Scope): Promise<Report> {
  const [some, many] = scope.quick ? [200, 400] : [20_000, 100_000];
  const contenders = [
    inEachVersion(scope, SERVICE, (version) =>
      started(scope, serviceCommand(version), {
        args: serviceArguments(agentFile(scope, {}), scope.directory()),
      }),
    ),
    await bundledControl(scope, PLAIN, 'plain'),
    await bundledControl(scope, PLAIN_HTTP, 'plain-http'),
  ].flat();
  const all = await interleave(scope.rounds(3), {}, contenders, ({ start }) => memoryOf(start, some, many));
  return {
    series: all,
    targets: () => [
      {
        what: `RSS after ${some} sessions, relative to ${PLAIN}`,
        wanted: { atMost: 1 },
        measured: ratio(seriesOf(all, SERVICE), seriesOf(all, PLAIN), `RSS MB, ${some}`),
      },
      {
        what: `RSS after ${some} sessions, relative to ${PLAIN_HTTP}`,
        measured: ratio(seriesOf(all, SERVICE), seriesOf(all, PLAIN_HTTP), `RSS MB, ${some}`),
      },
      {
        what: `RSS after ${many} sessions, relative to ${some}`,
        wanted: { atMost: 1.1 },
        measured: spreadOf(seriesOf(all, SERVICE), 'growth'),
      },
    ],
  };
}

async function memoryOf(start: Contender['start'], some: number, many: number): Promise<Sample> {
  const server = await start();
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
