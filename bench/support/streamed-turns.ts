import type { Work } from './measured.ts';
import { oneTurn, responseBytes } from './turns.ts';
import type { WebSocketClient } from './websocket-client.ts';

export interface StreamedTurns {
  /** Turns at the same time. */
  readonly streams: number;
  /** The pieces of each reply. */
  readonly pieces: readonly string[];
}

/**
 * Runs one turn on each socket, from the message to the end of the reply. Rejects when the reply has another length.
 */
export async function streamTurns(
  sockets: readonly WebSocketClient[],
  { streams, pieces }: StreamedTurns,
): Promise<Work> {
  const expected = responseBytes(pieces.join(''));
  const latencies: number[] = [];
  const waiting = [...sockets];
  await Promise.all(
    Array.from({ length: streams }, async () => {
      for (let socket = waiting.pop(); socket; socket = waiting.pop()) {
        const receipt = await oneTurn(socket, 'stream');
        if (receipt.responseBytes !== expected)
          throw new Error(`a response of ${receipt.responseBytes} bytes came instead of ${expected}`);
        latencies.push(receipt.firstChunkMs);
      }
    }),
  );
  return { operations: sockets.length * pieces.length, latencies, latencyOf: 'first chunk' };
}
