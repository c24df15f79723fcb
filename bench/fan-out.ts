import type { Subject } from './support/contenders.ts';
import { linesOver } from './support/lines.ts';
import { measured } from './support/measured.ts';
import type { Report } from './support/report.ts';
import { interleave, ratio, type Series, seriesOf } from './support/rounds.ts';
import type { Scope } from './support/scope.ts';
import { FLOOR, PLAIN, SERVICE, startAll } from './support/subjects.ts';
import { dropAll, oneTurn, openSockets, responseBytes } from './support/turns.ts';

export const question = 'How many frames a second reach the sockets that watch one session?';

const REPLY = { piece: ' chunk', pieces: 500 };
/** By number of watchers: enough frames to measure, and few enough for `plain`, which sends each frame separately. */
const TURNS: Readonly<Record<number, number>> = { 1: 200, 100: 10, 1000: 1 };

export async function run(scope: Scope): Promise<Report> {
  const subjects = await startAll(scope, { reply: REPLY, isShared: true });
  for (const subject of subjects) await watch(subject, { watchers: 10, turns: 2, session: 'warm-up' });
  const all: Series[] = [];
  const audiences = scope.quick ? [1, 50] : [1, 100, 1_000];
  for (const watchers of audiences) {
    const turns = scope.quick ? 1 : (TURNS[watchers] ?? 1);
    const measure = (subject: Subject, round: number) =>
      watch(subject, { watchers, turns, session: `fan-${watchers}-${round}` });
    all.push(...(await interleave(scope.rounds(3), { watchers }, subjects, measure)));
  }
  const lines = linesOver(all, [FLOOR, SERVICE, PLAIN], 'watchers', 'frames/s');
  return {
    series: all,
    targets: () =>
      audiences.flatMap((watchers) => [
        {
          what: `${watchers} watchers: frames/s relative to the floor`,
          wanted: { atLeast: 0.7 },
          measured: ratio(
            seriesOf(all, SERVICE, { watchers }),
            seriesOf(all, FLOOR, { watchers }),
            'frames/s',
          ),
        },
        {
          what: `${watchers} watchers: frames/CPU second relative to the floor`,
          wanted: { atLeast: 0.7 },
          measured: ratio(
            seriesOf(all, FLOOR, { watchers }),
            seriesOf(all, SERVICE, { watchers }),
            'CPU µs/frame',
          ),
        },
      ]),
    plots: [{ title: 'One session, many sockets', xLabel: 'sockets', yLabel: 'frames/s', lines }],
  };
}

interface Audience {
  readonly watchers: number;
  readonly turns: number;
  readonly session: string;
}

async function watch({ server }: Subject, { watchers, turns, session }: Audience) {
  const sockets = await openSockets(server.port, watchers, () => session);
  const expected = responseBytes(REPLY.piece.repeat(REPLY.pieces));
  try {
    return await measured(server, 'frame', async () => {
      const latencies: number[] = [];
      let frames = 0;
      for (let turn = 0; turn < turns; turn += 1) {
        // The first socket asks. All sockets receive the turn, and all are waited for.
        const receipts = await Promise.all(
          sockets.map((socket, index) => oneTurn(socket, index === 0 ? 'stream' : null)),
        );
        for (const { responseBytes: bytes, firstChunkMs, chunkFrames } of receipts) {
          if (bytes !== expected) throw new Error(`a response of ${bytes} bytes came instead of ${expected}`);
          frames += chunkFrames;
          latencies.push(firstChunkMs);
        }
      }
      return { operations: frames, latencies, latencyOf: 'first chunk' };
    });
  } finally {
    dropAll(sockets);
  }
}
