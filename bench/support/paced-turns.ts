import { setTimeout as wait } from 'node:timers/promises';
import type { Work } from './measured.ts';
import { oneTurn } from './turns.ts';
import type { Upstream } from './upstream.ts';
import type { WebSocketClient } from './websocket-client.ts';

/**
 * Starts a turn on each socket and waits until all streams run, so that the start of a turn is not measured.
 * @returns the turns, which end later.
 */
export async function allBegun(sockets: readonly WebSocketClient[]): Promise<Promise<unknown>[]> {
  const turns: Promise<unknown>[] = [];
  await Promise.all(
    sockets.map(
      (socket) =>
        new Promise<void>((resolve, reject) => {
          const turn = oneTurn(socket, 'stream', resolve);
          turn.catch(reject);
          turns.push(turn);
        }),
    ),
  );
  return turns;
}

/** The packets that the model service sends in this time. */
export async function watchPackets(upstream: Upstream, ms: number): Promise<Work> {
  const before = upstream.sentPackets;
  await wait(ms);
  return { operations: upstream.sentPackets - before };
}
