import { type Subject, startEach } from './support/contenders.ts';
import { loadHttp, syncMessage } from './support/http-load.ts';
import { linesOver } from './support/lines.ts';
import { measured } from './support/measured.ts';
import type { Report, Target } from './support/report.ts';
import { interleave, ratio, type Sample, type Series, seriesOf, spreadOf } from './support/rounds.ts';
import type { Scope } from './support/scope.ts';
import { FLOOR, floor, PLAIN, PLAIN_HTTP, plain, plainHttp, SERVICE, service } from './support/subjects.ts';

export const question =
  'How many message-sync requests a second are answered, each durable before its answer?';

const SESSIONS = 2_000;
const IN_MEMORY = `${SERVICE}, log in memory`;

export async function run(scope: Scope): Promise<Report> {
  const contenders = [
    floor(scope),
    service(scope),
    service(scope, { name: IN_MEMORY, dataDir: ':memory:' }),
    plain(scope),
    plainHttp(scope),
  ];
  const subjects = await startEach(contenders.flat());
  for (const subject of subjects) await load(subject, 10, scope.quick ? 50 : 2_000);
  const all: Series[] = [];
  for (const inFlight of scope.quick ? [10] : [1, 10, 50, 500]) {
    const requests = scope.quick ? 200 : inFlight === 1 ? 1_500 : 5_000;
    const labels = { 'in flight': inFlight };
    all.push(
      ...(await interleave(scope.rounds(3), labels, subjects, (subject) =>
        load(subject, inFlight, requests),
      )),
    );
  }
  const title = 'POST /api/message-sync';
  return {
    series: all,
    targets: () => targets(all),
    plots: [
      {
        title,
        xLabel: 'in flight',
        yLabel: 'requests/s',
        lines: linesOver(all, [FLOOR, SERVICE, IN_MEMORY, PLAIN, PLAIN_HTTP], 'in flight', 'requests/s'),
      },
    ],
  };
}

function load({ server }: Subject, inFlight: number, total: number): Promise<Sample> {
  const requestOf = (index: number) => syncMessage(`s${index % SESSIONS}`);
  return measured(server, 'request', () => loadHttp({ port: server.port, inFlight, total, requestOf }));
}

function targets(all: readonly Series[]): Target[] {
  return [1, 10, 50, 500].flatMap((inFlight) => {
    const of = (name: string) => seriesOf(all, name, { 'in flight': inFlight });
    const served = of(SERVICE);
    return [
      {
        what: `${inFlight} in flight: requests/s relative to the floor`,
        wanted: { atLeast: 0.15 },
        measured: ratio(served, of(FLOOR), 'requests/s'),
      },
      {
        what: `${inFlight} in flight: requests/CPU second relative to the floor`,
        wanted: { atLeast: 0.2 },
        measured: ratio(of(FLOOR), served, 'CPU µs/request'),
      },
      ...[PLAIN, PLAIN_HTTP].flatMap((control) => [
        {
          what: `${inFlight} in flight: requests/s relative to ${control}`,
          wanted: { atLeast: 1 },
          measured: ratio(served, of(control), 'requests/s'),
        },
        {
          what: `${inFlight} in flight: CPU a request relative to ${control}`,
          ...(control === PLAIN && { wanted: { atMost: 1 } }),
          measured: ratio(served, of(control), 'CPU µs/request'),
        },
      ]),
      {
        what: `${inFlight} in flight: CPU µs a message`,
        wanted: { atMost: inFlight === 50 ? 100 : 150 },
        measured: spreadOf(served, 'CPU µs/request'),
      },
    ];
  });
}
