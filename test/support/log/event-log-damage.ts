import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { EventLog } from '../../../src/adapters/sqlite/log/event-log.ts';
import { openDatabase } from '../../../src/adapters/sqlite/open/open-database.ts';

/** What was acknowledged: the JSON of each event, by session. */
export type Acknowledged = ReadonlyMap<string, readonly string[]>;

export type Random = (below: number) => number;

/** Mulberry32: small, seeded, and good enough to shuffle. */
export function randomIntegers(seed: number): Random {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

/**
 * Appends batches to a log in `directory`, and copies its files to `crashed` while it is open: what a crash would
 * leave. The log is checkpointed often, so that file and WAL both have something to lose.
 */
export function crashedLog(directory: string, crashed: string, random: Random): Acknowledged {
  const acknowledged = new Map<string, string[]>();
  const database = openDatabase(directory);
  const checkpointFrames = 20 + random(60);
  const log = new EventLog(database, unexpectedNotice);
  for (let batch = 0; batch < 40 + random(40); batch += 1) {
    const sessions = Array.from({ length: 1 + random(4) }, () => `session-${random(8)}`);
    log.append(sessions.map((sessionId) => nextAppend(acknowledged, sessionId, random)));
    log.checkpoint(checkpointFrames);
  }
  copyFiles(directory, crashed);
  log[Symbol.dispose]();
  return acknowledged;
}

function nextAppend(acknowledged: Map<string, string[]>, sessionId: string, random: Random) {
  const stored = acknowledged.get(sessionId) ?? [];
  acknowledged.set(sessionId, stored);
  const expectedSeq = stored.length;
  const data = Array.from({ length: 1 + random(3) }, (_, index) => {
    const content = String(random(1e9)).repeat(1 + random(random(10) === 0 ? 900 : 20));
    return JSON.stringify({ type: 'turn.completed', turnId: `t${expectedSeq + 1 + index}`, content });
  });
  stored.push(...data);
  return { sessionId, expectedSeq, types: data.map(() => 'turn.completed'), data, open: random(3) === 0 };
}

function unexpectedNotice(notice: string): never {
  throw new Error(notice);
}

export function copyFiles(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const name of readdirSync(from)) copyFileSync(join(from, name), join(to, name));
}

/** Flips one bit, or cuts the file off; says what it did. */
export function damage(file: string, kind: 'flip' | 'truncate', random: Random): string {
  const bytes = readFileSync(file);
  const position = random(bytes.length);
  if (kind === 'truncate') {
    truncateSync(file, position);
    return `cut to ${position} of ${bytes.length} bytes`;
  }
  const bit = random(8);
  bytes[position] = (bytes[position] ?? 0) ^ (1 << bit);
  writeFileSync(file, bytes);
  return `bit ${bit} of byte ${position} of ${bytes.length}`;
}

export type Outcome =
  | { readonly kind: 'whole' }
  | { readonly kind: 'named at open' | 'named at read'; readonly message: string }
  | { readonly kind: 'silent'; readonly message: string };

/** Opens and reads everything: is it all there, or is it said what is not? */
export function readBack(directory: string, acknowledged: Acknowledged): Outcome {
  let log: EventLog;
  try {
    log = new EventLog(openDatabase(directory), () => undefined);
  } catch (error) {
    return { kind: 'named at open', message: messageOf(error) };
  }
  const failures: string[] = [];
  try {
    for (const [sessionId, expected] of acknowledged) {
      try {
        const found = readAll(log, sessionId);
        const same =
          found.length === expected.length && found.every((data, index) => data === expected[index]);
        if (!same) return { kind: 'silent', message: `${sessionId}: ${found.length} of ${expected.length}` };
      } catch (error) {
        failures.push(messageOf(error));
      }
    }
  } finally {
    closeQuietly(log, failures);
  }
  const [message] = failures;
  return message === undefined ? { kind: 'whole' } : { kind: 'named at read', message };
}

export function readAll(log: EventLog, sessionId: string): string[] {
  const { rows } = log.read({ type: 'read', sessionId, afterSeq: 0, maxRows: 1e6 });
  return rows.map((row) => String(Object(row).data));
}

/** A damaged file may not let itself be checkpointed. */
function closeQuietly(log: EventLog, failures: string[]): void {
  try {
    log[Symbol.dispose]();
  } catch (error) {
    failures.push(messageOf(error));
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The files of a log, by name. */
export function contentsOf(directory: string): Record<string, Buffer> {
  const names = ['events.db', 'events.db-wal', 'events.heads'].filter((name) =>
    existsSync(join(directory, name)),
  );
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(directory, name))]));
}
