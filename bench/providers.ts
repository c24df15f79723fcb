import { packetsOf } from './support/chat-reply.ts';
import { measured } from './support/measured.ts';
import { type ProviderReply, providerReplies } from './support/provider-replies.ts';
import type { Report, Target } from './support/report.ts';
import { interleave, ratio, rowOf, type Sample, type Series, seriesOf } from './support/rounds.ts';
import { Scope } from './support/scope.ts';
import { rounded } from './support/statistics.ts';
import { type StreamedTurns, streamTurns } from './support/streamed-turns.ts';
import { FLOOR, PLAIN, SERVICE, type Subject, startAll } from './support/subjects.ts';
import { dropAll, openSockets } from './support/turns.ts';
import { Upstream } from './support/upstream.ts';

export const question = 'Does it stay as fast with chunks as each provider really sends them?';

interface Load {
  readonly streams: number;
  /** Turns altogether, each in a session of its own: a long history would be sent along. */
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
  return { rows: all.map(rowOf), targets: scope.quick ? [] : providerReplies.flatMap(targetsOf(all)) };
}

/** In processes of their own: a service has one provider, and nothing is to be compiled for the chunks of two. */
async function measure(
  { quick, profiles }: Scope,
  upstream: Upstream,
  { shape, api, piecesOf, eventsOf }: ProviderReply,
): Promise<Series[]> {
  const { streams, turns, pieces: count, rounds } = quick ? smoke : full;
  const pieces = piecesOf(count);
  upstream.packets = packetsOf('burst', eventsOf(pieces));
  const scope = new Scope({ quick, profiles });
  try {
    const subjects = await startAll(scope, { upstream: upstream.url, api });
    let sessions = 0;
    const interleaved = (times: number): Promise<Series[]> =>
      interleave(times, { shape, streams }, subjects, (subject) => {
        sessions += turns;
        return stream(subject, { streams, pieces }, { turns, firstSession: sessions });
      });
    // The first round has to compile the code, so it does not count.
    if (!quick) await interleaved(1);
    return await interleaved(rounds);
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
        what: `${shape}: chunks/s of the floor`,
        wanted: { atLeast: LEAST_OF_FLOOR },
        measured: of(FLOOR, 'chunks/s'),
      },
      {
        what: `${shape}: CPU per chunk of the floor`,
        wanted: { atMost: rounded(1 / LEAST_OF_FLOOR) },
        measured: of(FLOOR, 'CPU µs/chunk'),
      },
      { what: `${shape}: chunks/s of plain`, measured: of(PLAIN, 'chunks/s') },
    ];
  };
}
