import { chatReply } from '../support/chat-reply.ts';
import { localUrl } from '../support/http-load.ts';
import { latencyColumns } from '../support/measured.ts';
import type { Target } from '../support/report.ts';
import { type Series, seriesOf, spreadOf } from '../support/rounds.ts';
import type { Scope } from '../support/scope.ts';
import { dropAll, oneTurn, openSockets } from '../support/turns.ts';
import { WebSocketClient } from '../support/websocket-client.ts';
import type { Engines } from './nodes.ts';

const NAME = 'take-over after kill -9';
/** The lease of a node, and a second. */
const MAX_MS = 3_000;
const CHUNKS_PER_SECOND = 1_000;

/**
 * From the kill of a node in the middle of turns to the `turnResumed` of each at clients of two other nodes. A new node
 * takes the place of the one that is killed.
 */
export async function takeOver(scope: Scope, engines: Engines): Promise<Series[]> {
  const rounds = scope.quick ? 1 : 10;
  const turns = scope.quick ? 4 : 20;
  const { upstream } = engines;
  const survivors = await engines.cluster(2);
  const all: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const victim = await engines.node(survivors.storeUrl);
    const nameOf = (index: number): string => `victim-${round}-${index}`;
    upstream.packets = chatReply('burst', ' chunk', 1);
    const first = await openSockets(victim.port, turns, nameOf);
    for (const socket of first) await oneTurn(socket, 'hello');
    dropAll(first);
    upstream.packets = chatReply('paced', ' chunk', 50_000);
    upstream.packetsPerSecond = CHUNKS_PER_SECOND;
    const sockets = await Promise.all(
      // Sockets that say where they are hear of a turn that goes on.
      Array.from({ length: turns }, (_, index) =>
        WebSocketClient.open(localUrl(survivors.portOf(index)), `/?session=${nameOf(index)}&after=0`),
      ),
    );
    await Promise.all(sockets.map((socket) => heard(socket, 'chunk', 'write')));
    const resumed = sockets.map((socket) => heard(socket, 'turnResumed'));
    // A node may die at any time between two renewals of its lease.
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 500));
    const killed = performance.now();
    await victim.kill();
    all.push(...(await Promise.all(resumed)).map((at) => at - killed));
    // The model has been called again, so that its replies can be ended.
    await Promise.all(sockets.map((socket) => heard(socket, 'chunk')));
    const ended = sockets.map((socket) => heard(socket, 'response'));
    upstream.finishAll();
    await Promise.all(ended);
    dropAll(sockets);
  }
  await survivors.stop();
  const sample = { turns: all.length, ...latencyColumns(all), 'max ms': Math.max(...all) };
  return [{ labels: {}, subject: NAME, samples: [sample] }];
}

export function takeOverTargets(all: readonly Series[]): Target[] {
  return [
    {
      what: 'kill -9 of the owner to turnResumed at another node, p99, ms',
      wanted: { atMost: MAX_MS },
      measured: spreadOf(seriesOf(all, NAME), 'p99 ms'),
    },
  ];
}

/** Resolves to the time of the next frame of this event. Rejects when the turn fails. */
function heard(socket: WebSocketClient, event: string, message?: string): Promise<number> {
  return new Promise((resolve, reject) => {
    socket.onClose = () => reject(new Error('the server closed the socket'));
    socket.onFrame = (bytes, start, end) => {
      const frame = bytes.toString('utf8', start, end);
      if (frame.startsWith(`{"event":"${event}"`)) resolve(performance.now());
      else if (frame.startsWith('{"event":"error"')) reject(new Error(frame));
    };
    if (message !== undefined) socket.send(JSON.stringify({ type: 'message', content: message }));
  });
}
