import { chatReply } from './support/chat-reply.ts';
import { type Subject, startEach } from './support/contenders.ts';
import { measured } from './support/measured.ts';
import type { Report } from './support/report.ts';
import { excess, interleave, type Sample, type Series, seriesOf } from './support/rounds.ts';
import type { Scope } from './support/scope.ts';
import { FLOOR, floor, plain, SERVICE, service } from './support/subjects.ts';
import { dropAll, oneTurn, openSockets } from './support/turns.ts';
import { Upstream } from './support/upstream.ts';

export const question =
  'How long does it take from a message to the first chunk, when the model service takes no time?';

const PIECES = 16;
const IN_MEMORY = `${SERVICE}, log in memory`;
const MAX_OVER_FLOOR_MS = 0.75;

export async function run(scope: Scope): Promise<Report> {
  const upstream = await Upstream.start(scope);
  upstream.packets = chatReply('burst', ' chunk', PIECES);
  const options = { upstream: upstream.url };
  const contenders = [
    floor(scope, options),
    service(scope, options),
    service(scope, { ...options, name: IN_MEMORY, dataDir: ':memory:' }),
    plain(scope, options),
  ];
  const subjects = await startEach(contenders.flat());
  const turns = scope.quick ? 20 : 400;
  let sessions = 0;
  const measure = (subject: Subject, inFlight: number): Promise<Sample> => {
    sessions += turns;
    return firstTokens(subject, { inFlight, turns, firstSession: sessions });
  };
  for (const subject of subjects) await measure(subject, 1);
  const all: Series[] = [];
  for (const inFlight of [1, 20]) {
    const labels = { 'in flight': inFlight };
    const one = (subject: Subject) => measure(subject, inFlight);
    all.push(...(await interleave(scope.rounds(5), labels, subjects, one)));
  }
  const alone = { 'in flight': 1 };
  return {
    series: all,
    targets: () =>
      [SERVICE, IN_MEMORY].map((name) => ({
        what: `${name}: first chunk, ms more than the floor (p50)`,
        wanted: { atMost: MAX_OVER_FLOOR_MS },
        measured: excess(seriesOf(all, name, alone), seriesOf(all, FLOOR, alone), 'p50 ms'),
      })),
  };
}

interface Turns {
  readonly inFlight: number;
  readonly turns: number;
  readonly firstSession: number;
}

async function firstTokens({ server }: Subject, { inFlight, turns, firstSession }: Turns): Promise<Sample> {
  const sockets = await openSockets(server.port, turns, (index) => `first-${firstSession + index}`);
  try {
    return await measured(server, 'turn', async () => {
      const latencies: number[] = [];
      const waiting = [...sockets];
      const work = async (): Promise<void> => {
        for (let socket = waiting.pop(); socket; socket = waiting.pop())
          latencies.push((await oneTurn(socket, 'stream')).firstChunkMs);
      };
      await Promise.all(Array.from({ length: inFlight }, work));
      return { operations: latencies.length, latencies };
    });
  } finally {
    dropAll(sockets);
  }
}
