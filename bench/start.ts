import { bundledControl } from './support/bundled-control.ts';
import { type Contender, control, inEachVersion } from './support/contenders.ts';
import { HttpConnection } from './support/http-connection.ts';
import { localUrl } from './support/http-load.ts';
import type { Report, Target } from './support/report.ts';
import { interleave, ratio, type Sample, type Series, seriesOf } from './support/rounds.ts';
import type { Scope } from './support/scope.ts';
import {
  agentFile,
  controlFile,
  defaultAgentArguments,
  FLOOR,
  PLAIN,
  PLAIN_HTTP,
  SERVICE,
  serviceArguments,
  serviceCommand,
  serviceMain,
  started,
} from './support/subjects.ts';
import type { Version } from './support/version.ts';

export const question = 'How long does a cold start take, up to the first accepted request?';

/** Control: `plain`, which also loads the packages that the service loads at its start. */
const SAME_PACKAGES = `${PLAIN} + the same packages`;
const WITHOUT_TOOLS = `${SERVICE}, no tool server`;
/** Without a bundle and compile cache: Node strips the types of the TypeScript files. */
const fromSources = (name: string): string => `${name}, from its sources`;

export async function run(scope: Scope): Promise<Report> {
  const service = (name: string, file: (version: Version) => string, args = defaultAgentArguments) =>
    inEachVersion(scope, name, (version) =>
      started(scope, file(version), { args: args(version, scope.directory()) }),
    );
  const contenders = [
    await bundledControl(scope, FLOOR, 'floor'),
    service(SERVICE, serviceCommand),
    service(WITHOUT_TOOLS, serviceCommand, (_, dataDir) => serviceArguments(agentFile(scope, {}), dataDir)),
    service(fromSources(SERVICE), serviceMain),
    await bundledControl(scope, PLAIN, 'plain'),
    await bundledControl(scope, PLAIN_HTTP, 'plain-http'),
    await bundledControl(scope, SAME_PACKAGES, 'plain-with-packages'),
    control(scope, fromSources(SAME_PACKAGES), () => started(scope, controlFile('plain-with-packages'))),
  ].flat();
  // Not measured: the first start of each reads its files from the disk and fills the compile cache.
  if (!scope.quick) for (const { start } of contenders) await firstRequest(start);
  const all = await interleave(scope.rounds(7), {}, contenders, ({ start }) => firstRequest(start));
  return {
    series: all,
    targets: () => [
      ...[
        [SERVICE, SAME_PACKAGES],
        [WITHOUT_TOOLS, SAME_PACKAGES],
        [fromSources(SERVICE), fromSources(SAME_PACKAGES)],
      ].map(([name = '', other = '']) => ({ ...accepted(all, name, other), wanted: { atMost: 0.6 } })),
      ...[PLAIN, PLAIN_HTTP].map((other) => accepted(all, SERVICE, other)),
    ],
  };
}

function accepted(all: readonly Series[], name: string, other: string): Target {
  return {
    what: `${name}: first accepted request, relative to ${other}`,
    measured: ratio(seriesOf(all, name), seriesOf(all, other), 'accepted ms'),
  };
}

async function firstRequest(start: Contender['start']): Promise<Sample> {
  const begun = performance.now();
  const server = await start();
  const connection = new HttpConnection(localUrl(server.port));
  try {
    const send = async (path: string): Promise<number> => {
      const { status, body } = await connection.request({ path, body: JSON.stringify({ message: 'hello' }) });
      if (status !== 200) throw new Error(`${path} was answered with ${status}: ${body}`);
      return performance.now() - begun;
    };
    return {
      'listening ms': server.listenedAfterMs,
      'accepted ms': await send('/api/message'),
      // This request waits for the agent's tool servers, if it has any.
      'answered ms': await send('/api/message-sync'),
      'CPU ms': server.cpuMs(),
      'RSS MB': server.rssMb(),
    };
  } finally {
    connection.close();
    await server.stop();
  }
}
