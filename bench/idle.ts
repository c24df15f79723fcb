import type { Report } from './support/report.ts';
import { interleave, ratio, rowOf, type Sample, seriesOf, spreadOf } from './support/rounds.ts';
import type { Scope } from './support/scope.ts';
import { ServerProcess } from './support/server-process.ts';
import {
  defaultAgentArguments,
  FLOOR,
  PLAIN,
  SERVICE,
  serviceCommand,
  startFloor,
  startPlain,
  startService,
} from './support/subjects.ts';
import { dropAll, openSockets } from './support/turns.ts';

export const question =
  'How many bytes does a silent socket cost, and how large is the service without sockets?';

const DEFAULT_AGENT = 'default agent, no sockets';
const MAX_BASE_MB = 90;
/**
 * This share of sockets is opened before the measurement, so that the first growth of heap and tables is not counted.
 */
const WARM_UP_SHARE = 0.1;

type Start = (scope: Scope) => Promise<{ readonly server: ServerProcess }>;

export async function run(scope: Scope): Promise<Report> {
  const sockets = scope.quick ? 500 : 10_000;
  const subjects: { name: string; start: Start }[] = [
    { name: FLOOR, start: startFloor },
    { name: SERVICE, start: startService },
    { name: PLAIN, start: startPlain },
  ];
  const rounds = scope.quick ? 1 : 2;
  const perSocket = await interleave(rounds, { sockets }, subjects, ({ start }) =>
    hold(scope, start, sockets),
  );
  const base = await interleave(scope.quick ? 1 : 3, {}, [{ name: DEFAULT_AGENT }], () => baseOf(scope));
  const [service, floor] = [seriesOf(perSocket, SERVICE), seriesOf(perSocket, FLOOR)];
  return {
    rows: [...perSocket, ...base].map(rowOf),
    targets: [
      {
        what: 'bytes a socket, relative to the floor',
        wanted: { atMost: 2 },
        measured: ratio(service, floor, 'bytes/socket'),
      },
      {
        what: 'RSS of the default agent, MB, without its tool server',
        wanted: { atMost: MAX_BASE_MB },
        measured: spreadOf(seriesOf(base, DEFAULT_AGENT), 'RSS MB'),
      },
    ],
  };
}

/** Starts a new process for each round, because a process does not give all memory back. */
async function hold(scope: Scope, start: Start, count: number): Promise<Sample> {
  const { server } = await start(scope);
  const sessionOf = (index: number): string => `idle-${index}`;
  const first = await openSockets(server.port, count * WARM_UP_SHARE, sessionOf);
  const before = await server.settledRssMb(scope.quick ? 1 : undefined);
  const rest = await openSockets(server.port, count, (index) => sessionOf(index + count));
  const after = await server.settledRssMb(scope.quick ? 1 : undefined);
  dropAll([...first, ...rest]);
  await server.stop();
  return { 'bytes/socket': ((after - before) * 1024 * 1024) / count, 'RSS MB': after };
}

async function baseOf(scope: Scope): Promise<Sample> {
  const server = await ServerProcess.start(serviceCommand(), {
    args: defaultAgentArguments(scope.directory()),
  });
  scope.defer(() => server.stop());
  const rss = await server.settledRssMb(scope.quick ? 1 : undefined);
  await server.stop();
  return { 'RSS MB': rss };
}
