import { setTimeout as wait } from 'node:timers/promises';
import type { Subject } from './support/contenders.ts';
import { measured } from './support/measured.ts';
import type { Report, Target } from './support/report.ts';
import { interleave, ratio, type Sample, type Series, seriesOf, spreadOf } from './support/rounds.ts';
import type { Scope } from './support/scope.ts';
import { FLOOR, floor, plain, SERVICE, service } from './support/subjects.ts';
import { dropAll, oneTurn, openSockets } from './support/turns.ts';

export const question = 'How much do 100 stalled readers slow down 1,000 readers of the same session?';

/**
 * Large pieces: a stalled socket disturbs the others only when more is sent to it than the system buffers (some MB).
 */
const REPLY = { piece: `${'0123456789abcdef'.repeat(255)} `, pieces: 128 };
/** Turns of about a megabyte each, many more than a server may keep for a stalled reader. */
const FLOOD_TURNS = 24;
/** The service keeps at most 8 MB and one frame of half a megabyte. The rest allows for other growth of the process. */
const KEPT_MB = 10;

/** Many rounds, because a round is a single short turn and other work of the machine disturbs it. */
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
    // The fair comparison: a server also writes to stalled sockets, until the system accepts no more.
    { readers: readers + stalled, stalled: 0, turns: 1 },
  ];
  const all: Series[] = [];
  const options = { reply: REPLY, isShared: true };
  for (const contender of [floor(scope, options), service(scope, options), plain(scope, options)].flat()) {
    const subject: Subject = { ...contender, server: await contender.start() };
    await read(subject, { readers, stalled: 0, turns: 1 });
    all.push(...(await compare(subject, audiences, scope.rounds(ROUNDS))));
    // Flood the stalled readers: send far more than a server may keep for them.
    all.push(...(await compare(subject, [{ readers: 1, stalled, turns: scope.quick ? 2 : FLOOD_TURNS }], 1)));
    await subject.server.stop();
  }
  return { series: all, targets: () => targets(all, readers, stalled) };
}

function targets(all: readonly Series[], readers: number, stalled: number): Target[] {
  const of = (subject: string) => ({
    beside: seriesOf(all, subject, { readers, stalled }),
    without: seriesOf(all, subject, { readers, stalled: 0 }),
    asMany: seriesOf(all, subject, { readers: readers + stalled, stalled: 0 }),
  });
  const [served, bare] = [of(SERVICE), of(FLOOR)];
  const flooded = seriesOf(all, SERVICE, { readers: 1, stalled });
  return [
    {
      what: 'turns/s beside stalled readers, relative to without them',
      wanted: { atLeast: 0.95 },
      measured: ratio(served.beside, served.without, 'turns/s'),
    },
    {
      what: 'the same for the floor',
      measured: ratio(bare.beside, bare.without, 'turns/s'),
    },
    {
      what: 'turns/s beside stalled readers, relative to as many sockets that all read',
      wanted: { atLeast: 0.95 },
      measured: ratio(served.beside, served.asMany, 'turns/s'),
    },
    {
      what: 'CPU a turn beside stalled readers, relative to as many sockets that all read',
      wanted: { atMost: 1.05 },
      measured: ratio(served.beside, served.asMany, 'CPU µs/turn'),
    },
    {
      what: 'the same CPU for the floor',
      measured: ratio(bare.beside, bare.asMany, 'CPU µs/turn'),
    },
    {
      what: 'MB that a stalled reader costs at most, when flooded',
      wanted: { atMost: KEPT_MB },
      measured: spreadOf(flooded, 'MB/stalled'),
    },
  ];
}

/** Measures one subject with each audience in turn. */
async function compare(subject: Subject, audiences: readonly Audience[], rounds: number): Promise<Series[]> {
  const cases = audiences.map((audience) => ({ name: subject.name, ref: subject.ref, audience }));
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
    // Give the server time to notice the closed sockets.
    await wait(200);
  }
}
