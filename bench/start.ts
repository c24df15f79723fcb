import { bundledControl, launcher } from './support/bundled-control.ts';
import { HttpConnection } from './support/http-connection.ts';
import { localUrl } from './support/http-load.ts';
import type { Report } from './support/report.ts';
import { interleave, ratio, rowOf, type Sample, seriesOf } from './support/rounds.ts';
import type { Scope } from './support/scope.ts';
import { ServerProcess } from './support/server-process.ts';
import {
  agentFile,
  controlFile,
  defaultAgentArguments,
  FLOOR,
  PLAIN,
  SERVICE,
  serviceArguments,
  serviceCommand,
  serviceMain,
} from './support/subjects.ts';

export const question = 'How long does a cold start take, up to the first accepted request?';

/** Control: `plain`, which also loads the packages that the service loads at its start. */
const SAME_PACKAGES = `${PLAIN} + the same packages`;
const WITHOUT_TOOLS = `${SERVICE}, no tool server`;
/** Without a bundle and compile cache: Node strips the types of the TypeScript files. */
const fromSources = (name: string): string => `${name}, from its sources`;

export async function run(scope: Scope): Promise<Report> {
  const control = (name: string, file: string) => ({
    name: fromSources(name),
    start: () => ServerProcess.start(controlFile(file)),
  });
  const bundled = async (name: string, file: string) => {
    const bundle = await bundledControl(file);
    return { name, start: () => ServerProcess.start(launcher, { args: [bundle] }) };
  };
  const service = (name: string, file: string, args: (dataDir: string) => string[]) => ({
    name,
    start: () => ServerProcess.start(file, { args: args(scope.directory()) }),
  });
  const command = serviceCommand();
  const subjects = [
    await bundled(FLOOR, 'floor'),
    service(SERVICE, command, defaultAgentArguments),
    service(WITHOUT_TOOLS, command, (dataDir) => serviceArguments(agentFile(scope, {}), dataDir)),
    service(fromSources(SERVICE), serviceMain, defaultAgentArguments),
    await bundled(PLAIN, 'plain'),
    await bundled(SAME_PACKAGES, 'plain-with-packages'),
    control(SAME_PACKAGES, 'plain-with-packages'),
  ];
  // Not measured: the first start of each reads its files from the disk and fills the compile cache.
  if (!scope.quick) for (const { start } of subjects) await firstRequest(scope, start);
  const all = await interleave(scope.quick ? 1 : 7, {}, subjects, ({ start }) => firstRequest(scope, start));
  return {
    rows: all.map(rowOf),
    targets: [
      [SERVICE, SAME_PACKAGES],
      [WITHOUT_TOOLS, SAME_PACKAGES],
      [fromSources(SERVICE), fromSources(SAME_PACKAGES)],
    ].map(([name = '', control = '']) => ({
      what: `${name}: first accepted request, relative to ${control}`,
      wanted: { atMost: 0.6 },
      measured: ratio(seriesOf(all, name), seriesOf(all, control), 'accepted ms'),
    })),
  };
}

async function firstRequest(scope: Scope, start: () => Promise<ServerProcess>): Promise<Sample> {
  const begun = performance.now();
  const server = await start();
  scope.defer(() => server.stop());
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
