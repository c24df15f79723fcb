import { packetsOf } from './support/chat-reply.ts';
import type { Subject } from './support/contenders.ts';
import { measured } from './support/measured.ts';
import { allBegun, watchArrivals } from './support/paced-turns.ts';
import { type ProviderReply, providerReplies } from './support/provider-replies.ts';
import type { Report, Target } from './support/report.ts';
import { interleave, ratio, type Sample, type Series, seriesOf } from './support/rounds.ts';
import { Scope } from './support/scope.ts';
import { rounded } from './support/statistics.ts';
import { streamTurns } from './support/streamed-turns.ts';
import { FLOOR, PLAIN, SERVICE, startAll } from './support/subjects.ts';
import { dropAll, openSockets } from './support/turns.ts';
import { Upstream } from './support/upstream.ts';

export const question = 'Is streaming as fast with the chunks that each provider really sends?';

interface Load {
  readonly packets: 'burst' | 'paced';
  readonly streams: number;
  /** Turns in all, each in its own session, because a request contains the history of its session. */
  readonly turns: number;
  readonly pieces: number;
  readonly rounds: number;
}

const PACED_PER_SECOND = 4_000;
/** Each stream has more packets than it gets in this time and until all streams have begun. */
const WATCHED_MS = 1_000;

const full: readonly Load[] = [
  { packets: 'burst', streams: 10, turns: 100, pieces: 500, rounds: 3 },
  { packets: 'burst', streams: 100, turns: 100, pieces: 500, rounds: 3 },
  { packets: 'burst', streams: 1_000, turns: 1_000, pieces: 200, rounds: 2 },
  ...[10, 100, 1_000].map(
    (streams): Load => ({ packets: 'paced', streams, turns: streams, pieces: 5_000, rounds: 2 }),
  ),
];
const WARM_UP: Load = { packets: 'burst', streams: 100, turns: 100, pieces: 500, rounds: 1 };
const smoke: readonly Load[] = [
  { packets: 'burst', streams: 10, turns: 20, pieces: 100, rounds: 1 },
  { packets: 'paced', streams: 10, turns: 10, pieces: 5_000, rounds: 1 },
];

export async function run(scope: Scope): Promise<Report> {
  const upstream = await Upstream.start(scope);
  upstream.packetsPerSecond = PACED_PER_SECOND;
  const all: Series[] = [];
  for (const reply of providerReplies) all.push(...(await measure(scope, upstream, reply)));
  return { series: all, targets: () => providerReplies.flatMap(targetsOf(all)) };
}

/**
 * Starts new processes for each provider. A service has one provider, and code that V8 has optimised for the chunks
 * of one provider must not run with those of another.
 */
async function measure(
  outer: Scope,
  upstream: Upstream,
  { shape, api, piecesOf, eventsOf }: ProviderReply,
): Promise<Series[]> {
  const { quick } = outer;
  const scope = new Scope(outer);
  try {
    const subjects = await startAll(scope, { upstream: upstream.url, api });
    let sessions = 0;
    const measureLoad = (load: Load): Promise<Series[]> => {
      const { packets, streams, turns, rounds } = load;
      const pieces = piecesOf(load.pieces);
      upstream.packets = packetsOf(packets, eventsOf(pieces));
      return interleave(scope.rounds(rounds), { shape, packets, streams }, subjects, (subject) => {
        sessions += turns;
        return stream(subject, load, { upstream, pieces, quick, firstSession: sessions });
      });
    };
    // The first round warms up the code and is not counted.
    if (!quick) await measureLoad(WARM_UP);
    const all: Series[] = [];
    for (const load of quick ? smoke : full) all.push(...(await measureLoad(load)));
    return all;
  } finally {
    await scope.close();
  }
}

interface Round {
  readonly upstream: Upstream;
  readonly pieces: readonly string[];
  readonly firstSession: number;
  readonly quick: boolean;
}

async function stream({ server }: Subject, { packets, streams, turns }: Load, round: Round): Promise<Sample> {
  const { upstream, pieces, firstSession, quick } = round;
  const sockets = await openSockets(server.port, turns, (index) => `providers-${firstSession + index}`);
  try {
    if (packets === 'burst')
      return await measured(server, 'chunk', () => streamTurns(sockets, { streams, pieces }));
    const arrived = { chunks: 0 };
    const running = await allBegun(sockets, arrived);
    const sample = await measured(server, 'chunk', () => watchArrivals(arrived, quick ? 200 : WATCHED_MS));
    upstream.finishAll();
    await Promise.all(running);
    return sample;
  } finally {
    dropAll(sockets);
  }
}

const MIN_OF_FLOOR = 0.6;
const MIN_OF_PLAIN = 3;

/**
 * In bursts, the rate says how fast a subject is. Paced, all have the same rate, and only the CPU time differs. Then it
 * has no target relative to plain, because most of it is for the packets, and even the floor takes a third to a half.
 */
function targetsOf(all: readonly Series[]): (reply: ProviderReply) => Target[] {
  return ({ shape }) =>
    full.flatMap(({ packets, streams }) => {
      const of = (control: string, metric: string) => {
        const labels = { shape, packets, streams };
        return ratio(seriesOf(all, SERVICE, labels), seriesOf(all, control, labels), metric);
      };
      const what = `${shape}, ${packets}, ${streams} streams`;
      const cpu: Target = {
        what: `${what}: CPU per chunk relative to the floor`,
        wanted: { atMost: rounded(1 / MIN_OF_FLOOR) },
        measured: of(FLOOR, 'CPU µs/chunk'),
      };
      if (packets === 'paced')
        return [
          cpu,
          {
            what: `${what}: CPU per chunk relative to plain`,
            measured: of(PLAIN, 'CPU µs/chunk'),
          },
        ];
      return [
        {
          what: `${what}: chunks/s relative to the floor`,
          wanted: { atLeast: MIN_OF_FLOOR },
          measured: of(FLOOR, 'chunks/s'),
        },
        cpu,
        {
          what: `${what}: chunks/s relative to plain`,
          wanted: { atLeast: MIN_OF_PLAIN },
          measured: of(PLAIN, 'chunks/s'),
        },
      ];
    });
}
