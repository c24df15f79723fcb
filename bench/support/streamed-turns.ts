import type { Work } from './measured.ts';
import { oneTurn, responseBytes, type TurnSocket } from './turns.ts';

export interface StreamedTurns {
  /** Turns at the same time. */
  readonly streams: number;
  /** The pieces of each reply. */
  readonly pieces: readonly string[];
}

/**
 * Runs one turn on each socket, from the message to the end of the reply, and counts the chunk frames that come. Rejects
 * when the reply has another length.
 */
export async function streamTurns(
  sockets: readonly TurnSocket[],
  { streams, pieces }: StreamedTurns,
): Promise<Work> {
  const expected = responseBytes(pieces.join(''));
  const latencies: number[] = [];
  let frames = 0;
  const waiting = [...sockets];
  await Promise.all(
    Array.from({ length: streams }, async () => {
      for (let socket = waiting.pop(); socket; socket = waiting.pop()) {
        const receipt = await oneTurn(socket, 'stream');
        if (receipt.responseBytes !== expected)
          throw new Error(`a response of ${receipt.responseBytes} bytes came instead of ${expected}`);
        frames += receipt.chunkFrames;
        latencies.push(receipt.firstChunkMs);
      }
    }),
  );
  return { operations: frames, latencies, latencyOf: 'first chunk' };
}
