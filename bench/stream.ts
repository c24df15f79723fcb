import { chatProtocol } from './support/chat-protocol.ts';
import { chatReply, type Shape } from './support/chat-reply.ts';
import { type Contender, control, type Subject, startEach } from './support/contenders.ts';
import { linesOver } from './support/lines.ts';
import { measured } from './support/measured.ts';
import { allBegun, watchArrivals } from './support/paced-turns.ts';
import { peers } from './support/peers.ts';
import { type Protocol, serviceProtocol } from './support/protocol.ts';
import type { Report, Target } from './support/report.ts';
import { responsesProtocol } from './support/responses-protocol.ts';
import { interleave, ratio, type Sample, type Series, seriesOf } from './support/rounds.ts';
import type { Scope } from './support/scope.ts';
import { type StreamedTurns, streamTurns } from './support/streamed-turns.ts';
import {
  FLOOR,
  floor,
  PLAIN,
  PLAIN_HTTP,
  plain,
  plainHttp,
  SERVICE,
  service,
  startSources,
} from './support/subjects.ts';
import type { Plot } from './support/svg-plot.ts';
import { dropAll } from './support/turns.ts';
import { Upstream } from './support/upstream.ts';
import { thisCheckout } from './support/version.ts';

export const question =
  'How many chunks a second go from the model service through the server to the sockets?';

/** About as long as a word. */
const PIECE = ' chunk';
const PACED_PER_SECOND = 4_000;
/** Longer than the measurement, which ends the reply. */
const PACED = { shape: 'paced', pieces: 50_000 } as const;
const WATCHED_MS = 2_000;

interface Case {
  readonly shape: Shape;
  readonly streams: number;
  /** Turns in all, each in its own session, because a request contains the history of its session. */
  readonly turns: number;
  readonly pieces: number;
}

const full: readonly Case[] = [
  { shape: 'burst', streams: 1, turns: 60, pieces: 500 },
  { shape: 'burst', streams: 10, turns: 100, pieces: 500 },
  { shape: 'burst', streams: 100, turns: 200, pieces: 500 },
  { shape: 'burst', streams: 1_000, turns: 1_000, pieces: 200 },
  { shape: 'framed', streams: 100, turns: 200, pieces: 500 },
  ...[1, 10, 100, 1_000].map((streams) => ({ ...PACED, streams, turns: streams })),
];
/** The service again, over OpenAI's interfaces. */
const OPENAI: Readonly<Record<string, Protocol>> = {
  [`${SERVICE}, chat completions`]: chatProtocol,
  [`${SERVICE}, responses`]: responsesProtocol,
};
const OPENAI_STREAMS = 100;
const WARM_UP: Case = { shape: 'burst', streams: 10, turns: 20, pieces: 100 };
const smoke: readonly Case[] = [
  WARM_UP,
  { shape: 'framed', streams: 10, turns: 20, pieces: 100 },
  { ...PACED, streams: 10, turns: 10 },
];

export async function run(scope: Scope): Promise<Report> {
  const upstream = await Upstream.start(scope);
  const contenders = [floor, service, plain, plainHttp].flatMap((contender) =>
    contender(scope, { upstream: upstream.url }),
  );
  const subjects = await startEach([
    ...contenders,
    ...overOpenAi(scope, upstream.url),
    ...peers(scope, upstream.url),
  ]);
  let sessions = 0;
  const measure = (one: Case, rounds: number): Promise<Series[]> => {
    upstream.packets = chatReply(one.shape, PIECE, one.pieces);
    // The pacing ticks once a millisecond, so one stream gets at most one packet a millisecond.
    upstream.packetsPerSecond = Math.min(PACED_PER_SECOND, one.streams * 1_000);
    const labels = { shape: one.shape, streams: one.streams };
    const isMeasured = one.streams === OPENAI_STREAMS || scope.quick;
    const asked = subjects.filter(({ name }) => isMeasured || !(name in OPENAI));
    return interleave(rounds, labels, asked, (subject) => {
      sessions += one.turns;
      return stream(subject, one, { upstream, firstSession: sessions, quick: scope.quick });
    });
  };
  if (!scope.quick) await measure(WARM_UP, 1);
  const all: Series[] = [];
  for (const one of scope.quick ? smoke : full) all.push(...(await measure(one, scope.rounds(3))));
  return {
    series: all,
    targets: () => [...targets(all), ...scope.peers.flatMap((peer) => peerTargets(all, peer))],
    plots: [plot(all, scope.peers)],
  };
}

/** Other versions may not have these interfaces. */
function overOpenAi(scope: Scope, upstream: string): Contender[] {
  return Object.entries(OPENAI).flatMap(([name, protocol]) =>
    control(scope, name, () => startSources(scope, thisCheckout, { upstream })).map((contender) => ({
      ...contender,
      protocol,
    })),
  );
}

function streamedTurns({ streams, pieces }: Case): StreamedTurns {
  return { streams, pieces: Array.from({ length: pieces }, () => PIECE) };
}

interface Round {
  readonly upstream: Upstream;
  readonly firstSession: number;
  readonly quick: boolean;
}

async function stream(
  { server, protocol = serviceProtocol }: Subject,
  one: Case,
  round: Round,
): Promise<Sample> {
  const { upstream, firstSession, quick } = round;
  const sockets = await protocol.openStreams(
    server.port,
    one.turns,
    (index) => `stream-${firstSession + index}`,
  );
  try {
    if (one.shape !== 'paced')
      return await measured(server, 'chunk', () => streamTurns(sockets, streamedTurns(one)));
    const arrived = { chunks: 0 };
    const turns = await allBegun(sockets, arrived);
    const sample = await measured(server, 'chunk', () => watchArrivals(arrived, quick ? 200 : WATCHED_MS));
    upstream.finishAll();
    await Promise.all(turns);
    return sample;
  } finally {
    dropAll(sockets);
  }
}

function targets(all: readonly Series[]): Target[] {
  const of = (shape: Shape, streams: number, control: string, metric: string, name = SERVICE) =>
    ratio(seriesOf(all, name, { shape, streams }), seriesOf(all, control, { shape, streams }), metric);
  const bursts = full.filter(({ shape }) => shape === 'burst');
  const paced = full.filter(({ shape }) => shape === 'paced');
  return [
    ...bursts.map(({ streams }) => ({
      what: `burst, ${streams} streams: chunks/s relative to the floor`,
      wanted: { atLeast: 0.6 },
      measured: of('burst', streams, FLOOR, 'chunks/s'),
    })),
    ...bursts.map(({ streams }) => ({
      what: `burst, ${streams} streams: chunks/CPU second relative to the floor`,
      wanted: { atLeast: 0.6 },
      measured: ratio(
        seriesOf(all, FLOOR, { shape: 'burst', streams }),
        seriesOf(all, SERVICE, { shape: 'burst', streams }),
        'CPU µs/chunk',
      ),
    })),
    ...bursts.map(({ streams }) => ({
      what: `burst, ${streams} streams: chunks/s relative to plain`,
      wanted: { atLeast: 4 },
      measured: of('burst', streams, PLAIN, 'chunks/s'),
    })),
    ...bursts.map(({ streams }) => ({
      what: `burst, ${streams} streams: chunks/s relative to plain-http`,
      measured: of('burst', streams, PLAIN_HTTP, 'chunks/s'),
    })),
    ...Object.keys(OPENAI).map((name) => ({
      what: `burst, ${OPENAI_STREAMS} streams: chunks/s of ${name}, relative to the WebSocket`,
      wanted: { atLeast: 0.5 },
      measured: of('burst', OPENAI_STREAMS, SERVICE, 'chunks/s', name),
    })),
    ...paced.map(({ streams }) => ({
      what: `paced, ${streams} streams: CPU per chunk relative to the floor`,
      wanted: { atMost: 1.4 },
      measured: of('paced', streams, FLOOR, 'CPU µs/chunk'),
    })),
  ];
}

/** A peer stores nothing, so its ratios are only reported. */
function peerTargets(all: readonly Series[], peer: string): Target[] {
  return full.map(({ shape, streams }) => {
    const metric = shape === 'paced' ? 'CPU µs/chunk' : 'chunks/s';
    const of = (name: string) => seriesOf(all, name, { shape, streams });
    return {
      what: `${shape}, ${streams} streams: ${metric} relative to ${peer}`,
      measured: ratio(of(SERVICE), of(peer), metric),
    };
  });
}

function plot(all: readonly Series[], names: readonly string[]): Plot {
  const burst = all.filter(({ labels }) => labels.shape === 'burst');
  return {
    title: 'Chunks from the model service to WebSockets, burst',
    xLabel: 'concurrent streams',
    yLabel: 'chunks/s',
    lines: linesOver(burst, [FLOOR, SERVICE, PLAIN, PLAIN_HTTP, ...names], 'streams', 'chunks/s'),
  };
}
