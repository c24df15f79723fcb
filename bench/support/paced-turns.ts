import { setTimeout as wait } from 'node:timers/promises';
import type { Work } from './measured.ts';
import { oneTurn, type TurnSocket } from './turns.ts';

/** The chunk frames of all sockets so far. */
export interface Arrived {
  chunks: number;
}

/**
 * Starts a turn on each socket and waits until all streams run, so that the start of a turn is not measured.
 * @param arrived counts from now on.
 * @returns the turns, which end later.
 */
export async function allBegun(
  sockets: readonly TurnSocket[],
  arrived: Arrived,
): Promise<Promise<unknown>[]> {
  const turns: Promise<unknown>[] = [];
  await Promise.all(
    sockets.map(
      (socket) =>
        new Promise<void>((resolve, reject) => {
          const turn = oneTurn(socket, 'stream', (frames) => {
            arrived.chunks += 1;
            if (frames === 1) resolve();
          });
          turn.catch(reject);
          turns.push(turn);
        }),
    ),
  );
  return turns;
}

/** What arrives in this time. What is sent and not read by the end is not counted. */
export async function watchArrivals(arrived: Arrived, ms: number): Promise<Work> {
  const before = arrived.chunks;
  await wait(ms);
  return { operations: arrived.chunks - before };
}
