import { chatReply, wholeChatReply } from '../support/chat-reply.ts';
import { loadHttp, syncMessage } from '../support/http-load.ts';
import { measured, type Work } from '../support/measured.ts';
import { allBegun, watchArrivals } from '../support/paced-turns.ts';
import type { Target } from '../support/report.ts';
import { interleave, ratio, type Sample, type Series, seriesOf } from '../support/rounds.ts';
import type { Scope } from '../support/scope.ts';
import { dropAll, openSockets } from '../support/turns.ts';
import type { Engines, Nodes } from './nodes.ts';

const ONE = 'one node';
const THREE = 'three nodes';
const SESSIONS = 600;
const IN_FLIGHT = 48;
const STREAMS = 120;
const PACED_PER_SECOND = 4_000;
const WATCHED_MS = 2_000;

/**
 * The same load on one node and on three, without sticky sessions: two of three requests come to a node that does not
 * have the session. All share one machine, so that the CPU time for each operation says what three nodes lose.
 */
export async function threeNodes(scope: Scope, engines: Engines): Promise<Series[]> {
  const subjects = [
    { name: ONE, nodes: await engines.cluster(1) },
    { name: THREE, nodes: await engines.cluster(3) },
  ];
  const total = scope.quick ? 48 : 3_600;
  const sync = ({ nodes }: { nodes: Nodes }) => messages(engines, nodes, total);
  let opened = 0;
  const stream = ({ nodes }: { nodes: Nodes }) => {
    opened += 1;
    return streams(engines, nodes, { quick: scope.quick, name: `streams-${opened}` });
  };
  for (const subject of subjects) await messages(engines, subject.nodes, scope.quick ? 12 : SESSIONS);
  const all = [
    ...(await interleave(scope.rounds(5), { work: 'message-sync' }, subjects, sync)),
    ...(await interleave(scope.rounds(5), { work: 'paced streams' }, subjects, stream)),
  ];
  for (const { nodes } of subjects) await nodes.stop();
  return all;
}

export function threeNodesTargets(all: readonly Series[]): Target[] {
  const cpu = (work: string, metric: string): Target => ({
    what: `${work}: CPU of three nodes for each, relative to one node`,
    measured: ratio(seriesOf(all, THREE, { work }), seriesOf(all, ONE, { work }), metric),
  });
  return [cpu('message-sync', 'CPU µs/request'), cpu('paced streams', 'CPU µs/chunk')];
}

function messages({ upstream }: Engines, nodes: Nodes, total: number): Promise<Sample> {
  upstream.packets = chatReply('burst', 'you said hello', 1);
  upstream.wholeAnswer = wholeChatReply('you said hello');
  const share = { inFlight: IN_FLIGHT / nodes.all.length, total: total / nodes.all.length };
  return measured(nodes, 'request', async (): Promise<Work> => {
    const works = await Promise.all(
      nodes.all.map(({ port }, node) =>
        // Each node is asked for every session, and the same session is asked for at different times.
        loadHttp({
          ...share,
          port,
          requestOf: (index) => syncMessage(`s${(index + node * 200) % SESSIONS}`),
        }),
      ),
    );
    const latencies = works.flatMap((work) => work.latencies ?? []);
    return { operations: latencies.length, latencies };
  });
}

async function streams(
  { upstream }: Engines,
  nodes: Nodes,
  { quick, name }: { readonly quick: boolean; readonly name: string },
): Promise<Sample> {
  const count = quick ? 6 : STREAMS;
  const nameOf = (index: number): string => `${name}-${index}`;
  // Who begins a session, owns it; who comes back, comes to any node.
  upstream.packets = chatReply('burst', ' chunk', 1);
  await Promise.all(
    Array.from({ length: count }, (_, index) =>
      loadHttp({
        port: nodes.portOf(index),
        inFlight: 1,
        total: 1,
        requestOf: () => syncMessage(nameOf(index)),
      }),
    ),
  );
  const sockets = (
    await Promise.all(
      Array.from({ length: count }, (_, index) =>
        openSockets(nodes.portOf(Math.floor(index / nodes.all.length)), 1, () => nameOf(index)),
      ),
    )
  ).flat();
  try {
    upstream.packets = chatReply('paced', ' chunk', 50_000);
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
}
