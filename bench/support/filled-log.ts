import {
  closeSync,
  constants,
  cpSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteEventStore } from '../../src/adapters/sqlite/log/sqlite-event-store.ts';
import { createJsonLogger } from '../../src/app/logger.ts';
import type { SessionEvent } from '../../src/core/log/events.ts';
import type { EventStore } from '../../src/ports/event-store.ts';
import { EVENTS_PER_TURN, longTurn, openTurn, shortTurn } from './conversation.ts';
import type { Scope } from './scope.ts';

/** The contents of a generated log. */
export interface LogContents {
  /** Sessions of short turns: `s0`, `s1` … */
  readonly sessions?: number;
  /** Events of each of them. A turn has four. */
  readonly eventsPerSession?: number;
  /** Sessions in the middle of a turn: `open0`, `open1` … */
  readonly openTurns?: number;
  /** Sessions of long turns, named by `longSession`. */
  readonly long?: readonly LongSessions[];
}

export interface LongSessions {
  readonly events: number;
  readonly sessions: number;
}

export function longSession(events: number, index = 0): string {
  return `long-${events}-${index}`;
}

/** Increase it when the generated logs change, so that the kept ones are not used. */
const VERSION = 3;
/** Appended at once, so that they share a disk synchronisation. */
const SESSIONS_AT_ONCE = 500;
const TURNS_AT_ONCE = 250;

/**
 * A writable copy of a data directory with such a log. The original is generated once and kept in the folder for
 * temporary files, because generating a large log takes longer than measuring it.
 */
export async function filledLog(scope: Scope, contents: LogContents): Promise<string> {
  const original = join(tmpdir(), `agent-service-bench-logs-${VERSION}`, nameOf(contents));
  if (!existsSync(original)) await make(scope, original, contents);
  const copy = join(scope.directory(), 'data');
  cpSync(original, copy, { recursive: true, mode: constants.COPYFILE_FICLONE });
  for (const file of readdirSync(copy)) synchronise(join(copy, file));
  return copy;
}

/** Otherwise the first fsync of the service would wait until the copy has reached the disk. */
function synchronise(file: string): void {
  const descriptor = openSync(file, 'r+');
  fsyncSync(descriptor);
  closeSync(descriptor);
}

/** Generates the log under a temporary name until it is complete. */
async function make(scope: Scope, directory: string, contents: LogContents): Promise<void> {
  const unfinished = `${directory}.${process.pid}`;
  scope.discard(unfinished);
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true });
  const store = await openSqliteEventStore({ directory: unfinished, log: createJsonLogger('error') });
  try {
    await fill(store, contents);
  } finally {
    await store[Symbol.asyncDispose]();
  }
  renameSync(unfinished, directory);
}

async function fill(store: EventStore, { sessions = 0, openTurns = 0, long = [], ...contents }: LogContents) {
  const turns = Math.ceil((contents.eventsPerSession ?? EVENTS_PER_TURN) / EVENTS_PER_TURN);
  for (let first = 0; first < sessions; first += SESSIONS_AT_ONCE) {
    const batch = Math.min(SESSIONS_AT_ONCE, sessions - first);
    await Promise.all(
      Array.from({ length: batch }, (_, index) =>
        appendTurns(store, `s${first + index}`, 0, Array.from({ length: turns }, shortTurn)),
      ),
    );
  }
  for (let index = 0; index < openTurns; index += 1)
    await store.append(`open${index}`, 0, openTurn(), { open: true });
  for (const { events: count, sessions: named } of long)
    await Promise.all(
      Array.from({ length: named }, (_, index) => fillLong(store, longSession(count, index), count)),
    );
}

async function fillLong(store: EventStore, sessionId: string, events: number): Promise<void> {
  for (let seq = 0; seq < events; ) {
    const turns = Math.min(TURNS_AT_ONCE, Math.ceil((events - seq) / EVENTS_PER_TURN));
    await appendTurns(store, sessionId, seq, Array.from({ length: turns }, longTurn));
    seq += turns * EVENTS_PER_TURN;
  }
}

/** One append a turn, as the service does. */
async function appendTurns(
  store: EventStore,
  sessionId: string,
  afterSeq: number,
  turns: readonly SessionEvent[][],
): Promise<void> {
  await Promise.all(
    turns.map((events, index) =>
      store.append(sessionId, afterSeq + index * EVENTS_PER_TURN, events, { open: false }),
    ),
  );
}

function nameOf({ sessions = 0, eventsPerSession = 0, openTurns = 0, long = [] }: LogContents): string {
  const names = long.map(({ events, sessions: count }) => `${count}x${events}`);
  return [sessions, eventsPerSession, openTurns, ...names].join('_');
}
