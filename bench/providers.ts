import { packetsOf } from './support/chat-reply.ts';
import type { Subject } from './support/contenders.ts';
import { measured } from './support/measured.ts';
import { type ProviderReply, providerReplies } from './support/provider-replies.ts';
import type { Report, Target } from './support/report.ts';
import { interleave, ratio, type Sample, type Series, seriesOf } from './support/rounds.ts';
import { Scope } from './support/scope.ts';
import { rounded } from './support/statistics.ts';
import { type StreamedTurns, streamTurns } from './support/streamed-turns.ts';
import { FLOOR, PLAIN, SERVICE, startAll } from './support/subjects.ts';
import { dropAll, openSockets } from './support/turns.ts';
import { Upstream } from './support/upstream.ts';

export const question = 'Is streaming as fast with the chunks that each provider really sends?';

interface Load {
  readonly streams: number;
  /** Turns in all, each in its own session, because a request contains the history of its session. */
  readonly turns: number;
  readonly pieces: number;
  readonly rounds: number;
}

const full: Load = { streams: 100, turns: 200, pieces: 500, rounds: 3 };
const smoke: Load = { streams: 10, turns: 20, pieces: 100, rounds: 1 };

export async function run(scope: Scope): Promise<Report> {
  const upstream = await Upstream.start(scope);
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
  const { streams, turns, pieces: count, rounds } = outer.quick ? smoke : full;
  const pieces = piecesOf(count);
  upstream.packets = packetsOf('burst', eventsOf(pieces));
  const scope = new Scope(outer);
  try {
    const subjects = await startAll(scope, { upstream: upstream.url, api });
    let sessions = 0;
    const interleaved = (times: number): Promise<Series[]> =>
      interleave(times, { shape, streams }, subjects, (subject) => {
        sessions += turns;
        return stream(subject, { streams, pieces }, { turns, firstSession: sessions });
      });
    // The first round warms up the code and is not counted.
    if (!scope.quick) await interleaved(1);
    return await interleaved(scope.rounds(rounds));
  } finally {
    await scope.close();
  }
}

interface Sessions {
  readonly turns: number;
  readonly firstSession: number;
}

async function stream({ server }: Subject, streamed: StreamedTurns, sessions: Sessions): Promise<Sample> {
  const { turns, firstSession } = sessions;
  const sockets = await openSockets(server.port, turns, (index) => `providers-${firstSession + index}`);
  try {
    return await measured(server, 'chunk', () => streamTurns(sockets, streamed));
  } finally {
    dropAll(sockets);
  }
}

const LEAST_OF_FLOOR = 0.6;

function targetsOf(all: readonly Series[]): (reply: ProviderReply) => Target[] {
  return ({ shape }) => {
    const of = (control: string, metric: string) =>
      ratio(seriesOf(all, SERVICE, { shape }), seriesOf(all, control, { shape }), metric);
    return [
      {
        what: `${shape}: chunks/s relative to the floor`,
        wanted: { atLeast: LEAST_OF_FLOOR },
        measured: of(FLOOR, 'chunks/s'),
      },
      {
        what: `${shape}: CPU per chunk relative to the floor`,
        wanted: { atMost: rounded(1 / LEAST_OF_FLOOR) },
        measured: of(FLOOR, 'CPU µs/chunk'),
      },
      { what: `${shape}: chunks/s relative to plain`, measured: of(PLAIN, 'chunks/s') },
    ];
  };
}
