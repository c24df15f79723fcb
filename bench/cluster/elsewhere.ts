import { chatReply } from '../support/chat-reply.ts';
import { measured } from '../support/measured.ts';
import { allBegun, watchArrivals } from '../support/paced-turns.ts';
import type { Target } from '../support/report.ts';
import { excess, interleave, ratio, type Sample, type Series, seriesOf } from '../support/rounds.ts';
import type { Scope } from '../support/scope.ts';
import { streamTurns } from '../support/streamed-turns.ts';
import { dropAll, oneTurn, openSockets } from '../support/turns.ts';
import type { WebSocketClient } from '../support/websocket-client.ts';
import type { Engines, Nodes } from './nodes.ts';

const AT_OWNER = 'client at the owner';
const ELSEWHERE = 'client at another node';
const MAX_CPU_RATIO = 1.5;
const MAX_MORE_MS = 3;
const PIECE = ' chunk';
const PIECES = 200;
/** Turns that follow each other on one socket. */
const TURNS_EACH = 5;
const PACED_PER_SECOND = 4_000;
const WATCHED_MS = 2_000;

interface Case {
  readonly shape: 'burst' | 'paced';
  readonly streams: number;
}

const full: readonly Case[] = [
  { shape: 'burst', streams: 1 },
  { shape: 'burst', streams: 20 },
  { shape: 'paced', streams: 10 },
  { shape: 'paced', streams: 100 },
  { shape: 'paced', streams: 500 },
];
const smoke: readonly Case[] = [
  { shape: 'burst', streams: 5 },
  { shape: 'paced', streams: 5 },
];

/** Two nodes. The sessions are those of the first, the clients talk to it or to the other one. */
export async function elsewhere(scope: Scope, engines: Engines): Promise<Series[]> {
  const nodes = await engines.cluster(2);
  const measure = measurement(engines, nodes, scope.quick);
  const subjects = [
    { name: AT_OWNER, port: nodes.portOf(0) },
    { name: ELSEWHERE, port: nodes.portOf(1) },
  ];
  for (const { port } of subjects) await measure({ shape: 'burst', streams: 5 }, port);
  const all: Series[] = [];
  for (const one of scope.quick ? smoke : full)
    all.push(...(await interleave(scope.rounds(5), { ...one }, subjects, ({ port }) => measure(one, port))));
  await nodes.stop();
  return all;
}

export function elsewhereTargets(all: readonly Series[]): Target[] {
  return full.flatMap((one) => {
    const labels = { ...one };
    const [there, here] = [seriesOf(all, ELSEWHERE, labels), seriesOf(all, AT_OWNER, labels)];
    const what = `${one.shape}, ${one.streams} streams, client at another node`;
    const cpu = {
      what: `${what}: CPU of both nodes per chunk relative to a client at the owner`,
      wanted: { atMost: MAX_CPU_RATIO },
      measured: ratio(there, here, 'CPU µs/chunk'),
    };
    if (one.shape === 'paced') return [cpu];
    const first = {
      what: `${what}: first chunk, ms more (p50)`,
      wanted: { atMost: MAX_MORE_MS },
      measured: excess(there, here, 'first chunk p50 ms'),
    };
    return [cpu, first];
  });
}

function measurement({ upstream }: Engines, nodes: Nodes, quick: boolean) {
  let sessions = 0;
  return async ({ shape, streams }: Case, port: number): Promise<Sample> => {
    const count = shape === 'paced' ? streams : quick ? 5 : 60;
    sessions += count;
    const nameOf = (index: number): string => `elsewhere-${sessions - index}`;
    // Their first message makes the sessions those of the first node.
    upstream.packets = chatReply('burst', PIECE, 1);
    const first = await openSockets(nodes.portOf(0), count, nameOf);
    for (const socket of first) await oneTurn(socket, 'hello');
    dropAll(first);
    const sockets = await openSockets(port, count, nameOf);
    try {
      if (shape === 'burst') return await burst(sockets, streams);
      upstream.packets = chatReply('paced', PIECE, 50_000);
      upstream.packetsPerSecond = PACED_PER_SECOND;
      const arrived = { chunks: 0 };
      const turns = await allBegun(sockets, arrived);
      const sample = await measured(nodes, 'chunk', () => watchArrivals(arrived, quick ? 200 : WATCHED_MS));
      upstream.finishAll();
      await Promise.all(turns);
      return sample;
    } finally {
      dropAll(sockets);
    }
  };

  function burst(sockets: readonly WebSocketClient[], streams: number): Promise<Sample> {
    upstream.packets = chatReply('burst', PIECE, PIECES);
    const pieces = Array.from({ length: PIECES }, () => PIECE);
    const turns = Array.from({ length: quick ? 1 : TURNS_EACH }, () => sockets).flat();
    return measured(nodes, 'chunk', () => streamTurns(turns, { streams, pieces }));
  }
}
