import { chatReply, wholeChatReply } from './support/chat-reply.ts';
import { type Contender, type Subject, startEach } from './support/contenders.ts';
import { loadHttp } from './support/http-load.ts';
import { linesOver } from './support/lines.ts';
import { measured } from './support/measured.ts';
import { peers } from './support/peers.ts';
import { serviceProtocol } from './support/protocol.ts';
import type { Report, Target } from './support/report.ts';
import { interleave, ratio, type Sample, type Series, seriesOf, spreadOf } from './support/rounds.ts';
import type { Scope } from './support/scope.ts';
import { FLOOR, floor, PLAIN, PLAIN_HTTP, plain, plainHttp, SERVICE, service } from './support/subjects.ts';
import { Upstream } from './support/upstream.ts';

export const question =
  'How many message-sync requests a second are answered, each durable before its answer?';

const SESSIONS = 2_000;
/** Of the subjects in a round of a comparison. */
const MAX_TURNS = 10;
/** How many messages each connection sends in a turn at least: with fewer, its beginning and end would be most of it. */
const MIN_IN_TURN = 5;
const REPLY = 'you said hello';
const WITH_MODEL_SERVICE = `${SERVICE}, model service`;
const IN_MEMORY = `${SERVICE}, log in memory`;

export async function run(scope: Scope): Promise<Report> {
  const contenders = [
    floor(scope),
    service(scope),
    service(scope, { name: IN_MEMORY, dataDir: ':memory:' }),
    plain(scope),
    plainHttp(scope),
    ...(scope.peers.length > 0 ? [await withModelService(scope)] : []),
  ];
  const subjects = await startEach(contenders.flat());
  for (const subject of subjects) await load(subject, 10, scope.quick ? 50 : 2_000);
  const all: Series[] = [];
  for (const inFlight of scope.quick ? [10] : [1, 10, 50, 500]) {
    const inRound = scope.quick ? 200 : inFlight === 1 ? 1_500 : 5_000;
    const turns = scope.turns(Math.min(MAX_TURNS, Math.floor(inRound / inFlight / MIN_IN_TURN)));
    const requests = inRound / turns;
    const labels = { 'in flight': inFlight };
    all.push(
      ...(await interleave(scope.rounds(3) * turns, labels, subjects, (subject) =>
        load(subject, inFlight, requests),
      )),
    );
  }
  const title = 'POST /api/message-sync';
  return {
    series: all,
    targets: () => [...targets(all), ...peerTargets(all, scope.peers)],
    plots: [
      {
        title,
        xLabel: 'in flight',
        yLabel: 'requests/s',
        lines: linesOver(
          all,
          [FLOOR, SERVICE, IN_MEMORY, PLAIN, PLAIN_HTTP, ...scope.peers],
          'in flight',
          'requests/s',
        ),
      },
    ],
  };
}

/** A peer has no scripted model. For a fair comparison a further service asks the same model service. */
async function withModelService(scope: Scope): Promise<Contender[]> {
  const upstream = await Upstream.start(scope);
  upstream.packets = chatReply('burst', REPLY, 1);
  upstream.wholeAnswer = wholeChatReply(REPLY);
  return [
    ...service(scope, { name: WITH_MODEL_SERVICE, upstream: upstream.url }),
    ...peers(scope, upstream.url),
  ];
}

function load(
  { server, protocol = serviceProtocol }: Subject,
  inFlight: number,
  total: number,
): Promise<Sample> {
  const requestOf = (index: number) => protocol.messageTo(`s${index % SESSIONS}`);
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

/** A peer stores nothing and has no history, so its ratios are only reported. */
function peerTargets(all: readonly Series[], names: readonly string[]): Target[] {
  return names.flatMap((peer) =>
    [1, 10, 50, 500].flatMap((inFlight) => {
      const of = (name: string) => seriesOf(all, name, { 'in flight': inFlight });
      return ['requests/s', 'CPU µs/request'].map((metric) => ({
        what: `${inFlight} in flight: ${metric} of ${WITH_MODEL_SERVICE}, relative to ${peer}`,
        measured: ratio(of(WITH_MODEL_SERVICE), of(peer), metric),
      }));
    }),
  );
}
