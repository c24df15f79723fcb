import { setTimeout as wait } from 'node:timers/promises';
import { measured } from './support/measured.ts';
import type { Report } from './support/report.ts';
import { interleave, ratio, rowOf, type Sample, type Series, seriesOf, spreadOf } from './support/rounds.ts';
import type { Scope } from './support/scope.ts';
import { SERVICE, type Subject, startFloor, startPlain, startService } from './support/subjects.ts';
import { dropAll, oneTurn, openSockets } from './support/turns.ts';

export const question = 'What do 100 readers that stop reading take from 1,000 that read?';

/** Large pieces: a socket that is not read must have more sent to it than the system takes (some MB) to be in anybody's way. */
const REPLY = { piece: `${'0123456789abcdef'.repeat(255)} `, pieces: 128 };
/** Most of what the service keeps for a socket, and one frame. */
const KEPT_MB = 8 + (REPLY.piece.length * REPLY.pieces) / 1e6;

interface Size {
  readonly readers: number;
  readonly stalled: number;
  readonly turns: number;
}

export async function run(scope: Scope): Promise<Report> {
  const size = scope.quick
    ? { readers: 50, stalled: 5, turns: 2 }
    : { readers: 1_000, stalled: 100, turns: 6 };
  const all: Series[] = [];
  const options = { reply: REPLY };
  for (const start of [startFloor, startService, startPlain]) {
    const subject = await start(scope, options);
    const cases = [0, size.stalled].map((stalled) => ({
      ...subject,
      stalled,
      name: caseOf(subject, stalled),
    }));
    await read(subject, { ...size, turns: 1 }, 0);
    all.push(...(await interleave(scope.quick ? 1 : 2, {}, cases, (one) => read(one, size, one.stalled))));
    await subject.server.stop();
  }
  const [without, beside] = [0, size.stalled].map((stalled) =>
    seriesOf(all, `${SERVICE}, ${stalled} stalled`),
  );
  if (!without || !beside) throw new Error('the service was not measured');
  return {
    rows: all.map(rowOf),
    targets: [
      {
        what: 'turns/s beside stalled readers, of those without',
        wanted: { atLeast: 0.95 },
        measured: ratio(beside, without, 'turns/s'),
      },
      {
        what: 'CPU a turn beside stalled readers, of that without',
        wanted: { atMost: 1.05 },
        measured: ratio(beside, without, 'CPU µs/turn'),
      },
      {
        what: 'MB that stalled readers cost at most, each',
        wanted: { atMost: KEPT_MB },
        measured: spreadOf(beside, 'MB/stalled'),
      },
    ],
  };
}

function caseOf({ name }: Subject, stalled: number): string {
  return `${name}, ${stalled} stalled`;
}

async function read({ server }: Subject, { readers, turns }: Size, stalled: number): Promise<Sample> {
  const session = `slow-${crypto.randomUUID()}`;
  const reading = await openSockets(server.port, readers, () => session);
  const notReading = await openSockets(server.port, stalled, () => session);
  for (const socket of notReading) socket.stall();
  let closed = 0;
  for (const socket of notReading)
    socket.onClose = () => {
      closed += 1;
    };
  const before = server.rssMb();
  let most = before;
  const watch = setInterval(() => {
    most = Math.max(most, server.rssMb());
  }, 20);
  try {
    const sample = await measured(server, 'turn', async () => {
      for (let turn = 0; turn < turns; turn += 1)
        await Promise.all(reading.map((socket, index) => oneTurn(socket, index === 0 ? 'stream' : null)));
      return { operations: turns };
    });
    return {
      ...sample,
      'peak RSS MB': most,
      ...(stalled > 0 && { 'MB/stalled': (most - before) / stalled, closed }),
    };
  } finally {
    clearInterval(watch);
    dropAll([...reading, ...notReading]);
    // So that the server has let go of them before the next.
    await wait(200);
  }
}
