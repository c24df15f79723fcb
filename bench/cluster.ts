import { NatsServer } from '../test/support/nats/nats-server.ts';
import { PostgresServer } from '../test/support/postgres/postgres-server.ts';
import { measured } from './support/measured.ts';
import type { Report } from './support/report.ts';
import { excess, interleave, ratio, type Sample, type Series, seriesOf } from './support/rounds.ts';
import type { Scope } from './support/scope.ts';
import { startService } from './support/subjects.ts';
import { dropAll, oneTurn, openSockets } from './support/turns.ts';

export const question =
  'What does it cost that a client talks to another node than the one that has its session?';

const AT_OWNER = 'client at the owner';
const ELSEWHERE = 'client at another node';
const PIECES = 200;
const MAX_CPU_RATIO = 1.5;
const MAX_MORE_MS = 3;

/** Two nodes, PostgreSQL, NATS and the load share this machine, so CPU time counts and not the rate. */
export async function run(scope: Scope): Promise<Report> {
  const [postgres, nats] = await Promise.all([PostgresServer.start({ fsync: true }), NatsServer.start()]);
  scope.defer(() => nats[Symbol.asyncDispose]());
  scope.defer(() => postgres[Symbol.asyncDispose]());
  const env = { AGENT_SERVICE_STORE: postgres.newUrl(), AGENT_SERVICE_BUS: nats.url };
  const reply = { piece: ' word', pieces: PIECES };
  const owner = (await startService(scope, { env, reply, name: 'owner' })).server;
  const other = (await startService(scope, { env, reply, name: 'other' })).server;
  const both = {
    cpuMs: () => owner.cpuMs() + other.cpuMs(),
    rssMb: () => owner.rssMb() + other.rssMb(),
  };
  const count = scope.quick ? 5 : 60;
  const turnsEach = scope.quick ? 2 : 20;
  let sessions = 0;
  const measure = async (port: number, inFlight: number): Promise<Sample> => {
    sessions += count;
    const nameOf = (index: number): string => `cluster-${sessions - index}`;
    // Their first message makes the sessions those of this node.
    const first = await openSockets(owner.port, count, nameOf);
    for (const socket of first) await oneTurn(socket, 'hello');
    dropAll(first);
    const sockets = await openSockets(port, count, nameOf);
    try {
      return await measured(both, 'chunk', async () => {
        const latencies: number[] = [];
        const waiting = [...sockets];
        let chunks = 0;
        const work = async (): Promise<void> => {
          for (let socket = waiting.pop(); socket; socket = waiting.pop()) {
            for (let turn = 0; turn < turnsEach; turn += 1) {
              const { firstChunkMs, chunkFrames } = await oneTurn(socket, 'stream');
              latencies.push(firstChunkMs);
              chunks += chunkFrames;
            }
          }
        };
        await Promise.all(Array.from({ length: inFlight }, work));
        return { operations: chunks, latencies, latencyOf: 'first chunk' };
      });
    } finally {
      dropAll(sockets);
    }
  };
  const subjects = [
    { name: AT_OWNER, port: owner.port },
    { name: ELSEWHERE, port: other.port },
  ];
  for (const { port } of subjects) await measure(port, 20);
  const all: Series[] = [];
  for (const inFlight of [1, 20]) {
    const labels = { 'in flight': inFlight };
    const one = ({ port }: { port: number }) => measure(port, inFlight);
    all.push(...(await interleave(scope.rounds(5), labels, subjects, one)));
  }
  return {
    series: all,
    targets: () =>
      [1, 20].flatMap((inFlight) => {
        const labels = { 'in flight': inFlight };
        const elsewhere = seriesOf(all, ELSEWHERE, labels);
        const atOwner = seriesOf(all, AT_OWNER, labels);
        return [
          {
            what: `${inFlight} in flight, client at another node: CPU of both nodes per chunk relative to a client at the owner`,
            wanted: { atMost: MAX_CPU_RATIO },
            measured: ratio(elsewhere, atOwner, 'CPU µs/chunk'),
          },
          {
            what: `${inFlight} in flight, client at another node: first chunk, ms more (p50)`,
            wanted: { atMost: MAX_MORE_MS },
            measured: excess(elsewhere, atOwner, 'first chunk p50 ms'),
          },
        ];
      }),
  };
}
