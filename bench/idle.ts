import { type Contender, inEachVersion } from './support/contenders.ts';
import type { Report } from './support/report.ts';
import { interleave, ratio, type Sample, seriesOf, spreadOf } from './support/rounds.ts';
import type { Scope } from './support/scope.ts';
import {
  defaultAgentArguments,
  FLOOR,
  floor,
  plain,
  SERVICE,
  service,
  serviceCommand,
  started,
} from './support/subjects.ts';
import { dropAll, openSockets } from './support/turns.ts';

export const question =
  'How many bytes does a silent socket cost, and how large is the service without sockets?';

const DEFAULT_AGENT = 'default agent, no sockets';
const MAX_BASE_MB = 85;
/**
 * This share of sockets is opened before the measurement, so that the first growth of heap and tables is not counted.
 */
const WARM_UP_SHARE = 0.1;

const AT_REST = 'RSS MB at rest';
/** After about 9 seconds in which nothing is asked of it, V8 gives back what the start has left behind. */
const LOOKS_AT_REST = 60;

export async function run(scope: Scope): Promise<Report> {
  const sockets = scope.quick ? 500 : 10_000;
  const contenders = [floor(scope), service(scope), plain(scope)].flat();
  const perSocket = await interleave(scope.rounds(2), { sockets }, contenders, ({ start }) =>
    hold(scope, start, sockets),
  );
  const defaultAgent = inEachVersion(scope, DEFAULT_AGENT, (version) =>
    started(scope, serviceCommand(version), { args: defaultAgentArguments(version, scope.directory()) }),
  );
  const base = await interleave(scope.rounds(3), {}, defaultAgent, ({ start }) => baseOf(scope, start));
  return {
    series: [...perSocket, ...base],
    targets: () => [
      {
        what: 'bytes a socket, relative to the floor',
        wanted: { atMost: 1.8 },
        measured: ratio(seriesOf(perSocket, SERVICE), seriesOf(perSocket, FLOOR), 'bytes/socket'),
      },
      {
        what: 'RSS of the default agent at rest, MB, without its tool server',
        wanted: { atMost: MAX_BASE_MB },
        measured: spreadOf(seriesOf(base, DEFAULT_AGENT), AT_REST),
      },
      {
        what: 'the same right after its start',
        measured: spreadOf(seriesOf(base, DEFAULT_AGENT), 'RSS MB'),
      },
    ],
  };
}

/** Starts a new process for each round, because a process does not give all memory back. */
async function hold(scope: Scope, start: Contender['start'], count: number): Promise<Sample> {
  const server = await start();
  const sessionOf = (index: number): string => `idle-${index}`;
  const first = await openSockets(server.port, count * WARM_UP_SHARE, sessionOf);
  const before = await server.settledRssMb(scope.quick ? 1 : undefined);
  const rest = await openSockets(server.port, count, (index) => sessionOf(index + count));
  const after = await server.settledRssMb(scope.quick ? 1 : undefined);
  dropAll([...first, ...rest]);
  await server.stop();
  return { 'bytes/socket': ((after - before) * 1024 * 1024) / count, 'RSS MB': after };
}

async function baseOf(scope: Scope, start: Contender['start']): Promise<Sample> {
  const server = await start();
  const started = await server.settledRssMb(scope.quick ? 1 : undefined);
  const rested = await server.settledRssMb(scope.quick ? 1 : LOOKS_AT_REST);
  await server.stop();
  return { 'RSS MB': started, [AT_REST]: rested };
}
