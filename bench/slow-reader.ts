import { setTimeout as wait } from 'node:timers/promises';
import { measured } from './support/measured.ts';
import type { Report } from './support/report.ts';
import { interleave, ratio, rowOf, type Sample, type Series, seriesOf, spreadOf } from './support/rounds.ts';
import type { Scope } from './support/scope.ts';
import { FLOOR, SERVICE, type Subject, startFloor, startPlain, startService } from './support/subjects.ts';
import { dropAll, oneTurn, openSockets } from './support/turns.ts';

export const question = 'What do 100 readers that stop reading take from 1,000 that read?';

/** Large pieces: a socket that is not read must have more sent to it than the system takes (some MB) to be in anybody's way. */
const REPLY = { piece: `${'0123456789abcdef'.repeat(255)} `, pieces: 128 };
/** About a megabyte each. */
const FLOOD_TURNS = 24;
/** The service keeps 8 MB and a frame of half a megabyte; the rest is room for what the process itself grows by meanwhile. */
const KEPT_MB = 10;

/** Each measures a single turn, so short that anything else the machine does shows in it. */
const ROUNDS = 7;

interface Audience {
  readonly readers: number;
  readonly stalled: number;
  readonly turns: number;
}

export async function run(scope: Scope): Promise<Report> {
  const readers = scope.quick ? 50 : 1_000;
  const stalled = scope.quick ? 5 : 100;
  const audiences = [
    { readers, stalled: 0, turns: 1 },
    { readers, stalled, turns: 1 },
    // A socket that is not read is one more to write to all the same, until the system takes no more for it.
    { readers: readers + stalled, stalled: 0, turns: 1 },
  ];
  const all: Series[] = [];
  for (const start of [startFloor, startService, startPlain]) {
    const subject = await start(scope, { reply: REPLY, isShared: true });
    await read(subject, { readers, stalled: 0, turns: 1 });
    all.push(...(await compare(subject, audiences, scope.quick ? 1 : ROUNDS)));
    // Alone, and sent far more than is kept for them.
    all.push(...(await compare(subject, [{ readers: 1, stalled, turns: scope.quick ? 2 : FLOOD_TURNS }], 1)));
    await subject.server.stop();
  }
  const of = (subject: string) => ({
    beside: seriesOf(all, subject, { readers, stalled }),
    without: seriesOf(all, subject, { readers, stalled: 0 }),
    asMany: seriesOf(all, subject, { readers: readers + stalled, stalled: 0 }),
  });
  const [service, floor] = [of(SERVICE), of(FLOOR)];
  const flooded = seriesOf(all, SERVICE, { readers: 1, stalled });
  return {
    rows: all.map(rowOf),
    targets: [
      {
        what: 'turns/s beside stalled readers, of those without',
        wanted: { atLeast: 0.95 },
        measured: ratio(service.beside, service.without, 'turns/s'),
      },
      {
        what: 'the same of the floor',
        measured: ratio(floor.beside, floor.without, 'turns/s'),
      },
      {
        what: 'turns/s beside stalled readers, of as many sockets that all read',
        wanted: { atLeast: 0.95 },
        measured: ratio(service.beside, service.asMany, 'turns/s'),
      },
      {
        what: 'CPU a turn beside stalled readers, of that with as many that all read',
        wanted: { atMost: 1.05 },
        measured: ratio(service.beside, service.asMany, 'CPU µs/turn'),
      },
      {
        what: 'the same CPU of the floor',
        measured: ratio(floor.beside, floor.asMany, 'CPU µs/turn'),
      },
      {
        what: 'MB that a stalled reader costs at most, when flooded',
        wanted: { atMost: KEPT_MB },
        measured: spreadOf(flooded, 'MB/stalled'),
      },
    ],
  };
}

/** One subject in turn with each audience. */
async function compare(subject: Subject, audiences: readonly Audience[], rounds: number): Promise<Series[]> {
  const cases = audiences.map((audience) => ({ name: subject.name, audience }));
  const measured = await interleave(rounds, {}, cases, ({ audience }) => read(subject, audience));
  return measured.map((series, index) => {
    const { readers = 0, stalled = 0 } = audiences[index] ?? {};
    return { ...series, labels: { readers, stalled } };
  });
}

async function read({ server }: Subject, { readers, stalled, turns }: Audience): Promise<Sample> {
  const session = `slow-${crypto.randomUUID()}`;
  const reading = await openSockets(server.port, readers, () => session);
  const notReading = await openSockets(server.port, stalled, () => session);
  for (const socket of notReading) socket.stall();
  const before = server.rssMb();
  let most = before;
  const watch = setInterval(() => {
    most = Math.max(most, server.rssMb());
  }, 20);
  try {
    const sample = await measured(server, 'turn', async () => {
      const latencies: number[] = [];
      for (let turn = 0; turn < turns; turn += 1) {
        const heard = reading.map((socket, index) => oneTurn(socket, index === 0 ? 'stream' : null));
        for (const { totalMs } of await Promise.all(heard)) latencies.push(totalMs);
      }
      return { operations: turns, latencies, latencyOf: 'whole turn' };
    });
    return {
      ...sample,
      'peak RSS MB': most,
      ...(stalled > 0 && { 'MB/stalled': (most - before) / stalled }),
    };
  } finally {
    clearInterval(watch);
    dropAll([...reading, ...notReading]);
    // So that the server has let go of them before the next.
    await wait(200);
  }
}
