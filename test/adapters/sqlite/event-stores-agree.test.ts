import { describe, expect, it } from 'vitest';
import { memoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import { openSqliteEventStore } from '../../../src/adapters/sqlite/log/sqlite-event-store.ts';
import type { SessionEvent } from '../../../src/core/log/events.ts';
import {
  type EventStore,
  type SessionFilter,
  type SessionMark,
  StaleVersionError,
} from '../../../src/ports/event-store.ts';
import { tempDirectory } from '../../support/service/temp-directory.ts';
import { recordingLog } from '../../support/telemetry/recording-log.ts';

const sessions = ['a', 'b', 'c', 'd'];
const rounds = 60;
const marks = [() => undefined, () => ({ open: true }), () => ({ open: false })];

interface Append {
  readonly sessionId: string;
  readonly expectedSeq: number;
  readonly events: readonly SessionEvent[];
  readonly mark: SessionMark | undefined;
}

describe('the memory and the SQLite store', () => {
  it.each([1, 2, 3, 4])('answer the same appends and reads alike (seed %i)', async (seed) => {
    const random = randomIntegers(seed);
    await using directory = await tempDirectory();
    await using memory = memoryEventStore();
    await using sqlite = await openSqliteEventStore({ directory: directory.path, log: recordingLog() });
    const heads = new Map(sessions.map((id) => [id, 0]));
    const tally = { appended: 0, stale: 0 };

    for (let round = 0; round < rounds; round += 1) {
      const appends = Array.from({ length: 1 + random(12) }, () => randomAppend(random, heads));
      const expected = await outcomes(memory, appends);
      expect(await outcomes(sqlite, appends)).toEqual(expected);
      for (const outcome of expected) tally['seqs' in outcome ? 'appended' : 'stale'] += 1;

      const [sessionId, after, limit] = [pick(random, sessions), random(40), random(30)];
      expect(await contents(sqlite, sessionId, after, limit)).toEqual(
        await contents(memory, sessionId, after, limit),
      );

      const [from, at, to] = [pick(random, sessions), random(20), pick(random, sessions)];
      expect(await outcomeOf(sqlite.fork(from, at, to))).toEqual(await outcomeOf(memory.fork(from, at, to)));
      if (random(4) === 0) await Promise.all([memory.erase(to), sqlite.erase(to)]);
      const filter = pick(random, [{}, { open: true }, { open: false, after: 'a' }, { limit: 2 }]);
      const listed = await summaries(sqlite, filter);
      expect(listed).toEqual(await summaries(memory, filter));
      for (const { sessionId: id, head } of await memory.sessions()) heads.set(id, head);
      for (const id of sessions) if ((await memory.read(id, 0, 1)).length === 0) heads.set(id, 0);
    }

    for (const id of sessions) expect(await contents(sqlite, id, 0)).toEqual(await contents(memory, id, 0));
    // Both ways were taken often enough to mean something.
    expect(Math.min(tally.appended, tally.stale)).toBeGreaterThan(rounds);
  });
});

/** Half of the appends expect the right seq, if those called before them in this round succeed too. */
function randomAppend(random: (below: number) => number, heads: Map<string, number>): Append {
  const sessionId = pick(random, sessions);
  const head = heads.get(sessionId) ?? 0;
  const events = Array.from({ length: random(4) }, (): SessionEvent => {
    return {
      type: 'turn.cancelled',
      step: 1,
      separator: '',
      turnId: `t${random(1e6)}`,
      cause: { kind: 'cancelled' },
      reason: '…',
      partial: 'é'.repeat(random(50)),
    };
  });
  const isRight = random(2) === 0;
  const wrong = pick(random, [head - 1, head + 1, 0, head + events.length, head + 7]);
  const expectedSeq = isRight ? head : Math.max(0, wrong);
  if (expectedSeq === head) heads.set(sessionId, head + events.length);
  return { sessionId, expectedSeq, events, mark: pick(random, marks)() };
}

/** Calls all of them at once, and says what became of each. */
async function outcomes(store: EventStore, appends: readonly Append[]) {
  const calls = appends.map(({ sessionId, expectedSeq, events, mark }) =>
    store.append(sessionId, expectedSeq, events, mark),
  );
  return (await Promise.allSettled(calls)).map((result) => {
    if (result.status === 'fulfilled') return { seqs: result.value.map(({ seq }) => seq) };
    if (!(result.reason instanceof StaleVersionError)) throw result.reason;
    const { sessionId, expected, actual } = result.reason;
    return { stale: sessionId, expected, actual };
  });
}

async function outcomeOf(fork: Promise<void>): Promise<string> {
  return fork.then(
    () => 'forked',
    (error: Error) => error.message,
  );
}

async function summaries(store: EventStore, filter: SessionFilter) {
  return (await store.sessions(filter)).map(({ sessionId, head, open }) => ({ sessionId, head, open }));
}

async function contents(store: EventStore, sessionId: string, after: number, limit?: number) {
  const envelopes = await store.read(sessionId, after, limit);
  return envelopes.map(({ seq, event }) => ({ sessionId, seq, event }));
}

function pick<T>(random: (below: number) => number, from: readonly T[]): T {
  const picked = from[random(from.length)];
  if (picked === undefined) throw new Error('nothing to pick from');
  return picked;
}

/** Mulberry32: small, seeded, and good enough to shuffle. */
function randomIntegers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}
