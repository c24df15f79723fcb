import { inEachVersion } from './support/contenders.ts';
import { filledLog } from './support/filled-log.ts';
import { HttpConnection } from './support/http-connection.ts';
import { localUrl, syncMessage } from './support/http-load.ts';
import type { Report } from './support/report.ts';
import { excess, interleave, type Sample, seriesOf } from './support/rounds.ts';
import type { Scope } from './support/scope.ts';
import type { ServerProcess } from './support/server-process.ts';
import { floor, plain, SERVICE, service, startSources } from './support/subjects.ts';

export const question =
  'How much longer does a start take with a long log and open turns than with an empty log?';

const EMPTY = `${SERVICE}, empty log`;
const EVENTS_PER_SESSION = 100;

export async function run(scope: Scope): Promise<Report> {
  const events = scope.quick ? 20_000 : 1_000_000;
  const openTurns = scope.quick ? 10 : 100;
  const full = `${SERVICE}, ${events.toLocaleString('en-US')} events, ${openTurns} open turns`;
  const contents = { sessions: events / EVENTS_PER_SESSION, eventsPerSession: EVENTS_PER_SESSION, openTurns };
  const contenders = [
    // The controls have no log: they show how long a bare start takes.
    floor(scope),
    service(scope, { name: EMPTY }),
    inEachVersion(scope, full, async (version) =>
      startSources(scope, version, { dataDir: await filledLog(scope, contents) }),
    ),
    plain(scope),
  ];
  const all = await interleave(scope.rounds(3), {}, contenders.flat(), async ({ name, start }) =>
    measure(await start(), name === full ? openTurns : 0),
  );
  return {
    series: all,
    targets: () =>
      ['listening ms', 'first answer ms', 'all turns done ms'].map((metric) => ({
        what: `${metric} more than with an empty log`,
        wanted: { atMost: 1_000 },
        measured: excess(seriesOf(all, full), seriesOf(all, EMPTY), metric),
      })),
  };
}

async function measure(server: ServerProcess, openTurns: number): Promise<Sample> {
  const begun = performance.now() - server.listenedAfterMs;
  const connection = new HttpConnection(localUrl(server.port));
  try {
    await connection.request(syncMessage('afterwards'));
    const answered = performance.now() - begun;
    for (let index = 0; index < openTurns; index += 1) await untilTurnEnded(connection, `open${index}`);
    return {
      'listening ms': server.listenedAfterMs,
      'first answer ms': answered,
      'all turns done ms': performance.now() - begun,
      'CPU ms': server.cpuMs(),
      'RSS MB': server.rssMb(),
    };
  } finally {
    connection.close();
    await server.stop();
  }
}

/** Polls without a pause until the session has no open turn. */
async function untilTurnEnded(connection: HttpConnection, sessionId: string): Promise<void> {
  for (;;) {
    const { body } = await connection.request({ method: 'GET', path: `/api/sessions/${sessionId}` });
    if (!body.includes('"openTurnId":"')) return;
  }
}
