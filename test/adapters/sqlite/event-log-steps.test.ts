import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EventLog } from '../../../src/adapters/sqlite/log/event-log.ts';
import { type Database, openDatabase } from '../../../src/adapters/sqlite/open/open-database.ts';
import { repairEventLog } from '../../../src/adapters/sqlite/repair/repair-event-log.ts';
import { withEventStore } from '../../../src/cli/transfer/stored-log.ts';
import { StorageFullError } from '../../../src/core/log/storage-full.ts';
import type { AppendRequest } from '../../../src/stored-log/append-request.ts';
import { nextLoop } from '../../../src/timing/next-loop.ts';
import { type TempDirectory, tempDirectory } from '../../support/service/temp-directory.ts';

/** Several steps. */
const LENGTH = 1_200;
const text = 'a text that is found nowhere else';
const event = JSON.stringify({ v: 1, type: 'turn.requested', turnId: 't', text, pad: 'x'.repeat(300) });

let root: TempDirectory;
let database: Database;
let log: EventLog;

beforeEach(async () => {
  root = await tempDirectory();
  database = openDatabase(join(root.path, 'data'));
  log = new EventLog(database, () => undefined);
  log.append(Array.from({ length: LENGTH }, (_, seq) => appendOf('long', seq)));
});
afterEach(async () => {
  log[Symbol.dispose]();
  await root[Symbol.asyncDispose]();
});

function appendOf(sessionId: string, expectedSeq: number): AppendRequest {
  return { sessionId, expectedSeq, types: ['turn.requested'], data: [event] };
}
const append = (sessionId: string, expectedSeq: number) =>
  log.append([appendOf(sessionId, expectedSeq)]).refused;

const fork = (to = 'new') =>
  log.fork({
    type: 'fork',
    from: 'long',
    at: LENGTH - 1,
    to,
    open: false,
    types: ['session.reset'],
    data: [event],
  });

async function adopt() {
  const { adoption } = log.beginAdoption('new');
  const types = Array.from({ length: 100 }, () => 'turn.requested');
  const data = types.map(() => event);
  for (let part = 0; part < LENGTH / 100; part += 1)
    log.stage({ type: 'stage', adoption, times: types.map(() => 1_000), types, data });
  return log.adopt({ type: 'adopt', adoption, open: false });
}

const headsIn = (of: EventLog) =>
  Object.fromEntries(
    of.list({ type: 'list', filter: {} }).summaries.map(({ sessionId, head }) => [sessionId, head]),
  );
const rowsOf = (sessionId: string) =>
  log.read({ type: 'read', sessionId, afterSeq: 0, maxRows: 10_000 }).rows.length;

/** Runs it, with an append and a copy of the files, as a crash would leave them, after each of its steps. */
async function crashesDuring(work: () => Promise<unknown>): Promise<{ copies: string[]; heads: unknown[] }> {
  const copies: string[] = [];
  const heads: unknown[] = [];
  const crash = (): void => {
    expect(append('other', copies.length)).toEqual([]);
    heads.push(headsIn(log));
    const copy = join(root.path, `crash-${copies.length}`);
    cpSync(join(root.path, 'data'), copy, { recursive: true });
    copies.push(copy);
  };
  let isRunning = true;
  const done = work().finally(() => {
    isRunning = false;
  });
  while (isRunning) {
    crash();
    await nextLoop();
  }
  await done;
  crash();
  return { copies, heads };
}

function storedRows(directory: string, sessionId: string): number {
  using db = new DatabaseSync(join(directory, 'events.db'));
  return Number(db.prepare('SELECT count(*) AS n FROM events WHERE session = ?').get(sessionId)?.n);
}

/** Each kind of command that opens what a crash has left. @returns the heads that all of them see. */
async function openedAfter(crash: string): Promise<Record<string, number>> {
  expect(await repairEventLog(crash, { dryRun: true })).toMatchObject({ healthy: true });
  expect(await repairEventLog(crash)).toMatchObject({ healthy: true });
  const listed = await withEventStore({ dataDir: crash }, 'read', (store) => store.sessions());
  const next = new EventLog(openDatabase(crash), () => undefined);
  const heads = headsIn(next);
  next[Symbol.dispose]();
  expect(Object.fromEntries(listed.map(({ sessionId, head }) => [sessionId, head]))).toEqual(heads);
  expect(await repairEventLog(crash)).toMatchObject({ healthy: true });
  return heads;
}

describe.each([
  ['a fork', () => fork()],
  ['an adoption', adopt],
])('%s of a long session', (_, make) => {
  it('lets others append between its steps, and is nowhere or whole after a crash at each of them', async () => {
    const { copies, heads } = await crashesDuring(make);
    expect(copies.length).toBeGreaterThanOrEqual(3);
    for (const seen of heads.slice(0, -1)) expect(seen).not.toHaveProperty('new');
    expect(headsIn(log)).toEqual({ long: LENGTH, other: copies.length, new: LENGTH });
    for (const [index, crash] of copies.entries()) {
      const found = await openedAfter(crash);
      expect(found).toEqual({ ...Object(heads[index]), other: index + 1 });
      expect(storedRows(crash, 'new')).toBe(found.new ?? 0);
    }
  });

  it('has its id from its first step on, and shows nothing there', async () => {
    const made = make();
    expect(rowsOf('new')).toBe(0);
    expect(append('new', 0)).toEqual([{ index: 0, actual: LENGTH }]);
    expect(await fork()).toEqual({ type: 'forked', actual: LENGTH });
    expect(log.beginAdoption('new').actual).toBe(LENGTH);
    await log.erase({ type: 'erase', sessionIds: ['new'] });
    expect(await made).toMatchObject({ actual: 0 });
    expect(rowsOf('new')).toBe(LENGTH);
    expect(append('new', LENGTH)).toEqual([]);
  });

  it('leaves nothing when the disk becomes full', async () => {
    const made = make();
    const { page_count: pages } = Object(database.db.prepare('PRAGMA page_count').get());
    database.db.exec(`PRAGMA max_page_count = ${pages}`);
    await expect(made).rejects.toThrow(StorageFullError);
    database.db.exec('PRAGMA max_page_count = 100000');
    expect(storedRowsNow('new')).toBe(0);
    expect(await make()).toMatchObject({ actual: 0 });
    expect(rowsOf('new')).toBe(LENGTH);
  });

  it('leaves its id to the next when not even its rows can be removed', async () => {
    const made = make();
    database.db.exec(`
      CREATE TEMP TRIGGER curse BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'cursed'); END;
      CREATE TEMP TRIGGER curse_2 BEFORE INSERT ON events BEGIN SELECT RAISE(ABORT, 'cursed'); END
    `);
    await expect(made).rejects.toThrow('cursed');
    database.db.exec('DROP TRIGGER curse; DROP TRIGGER curse_2');
    expect(storedRowsNow('new')).toBeGreaterThan(0);
    expect(rowsOf('new')).toBe(0);
    expect(append('new', 0)).toEqual([]);
    expect(rowsOf('new')).toBe(1);
  });
});

function storedRowsNow(sessionId: string): number {
  return Number(database.db.prepare('SELECT count(*) AS n FROM events WHERE session = ?').get(sessionId)?.n);
}

describe('a fork of a long session', () => {
  it('fails and leaves nothing when the session is erased, and perhaps begun anew, meanwhile', async () => {
    const forked = fork();
    const erased = log.erase({ type: 'erase', sessionIds: ['long'] });
    expect(append('long', 0)).toEqual([]);
    await expect(forked).rejects.toThrow(RangeError);
    await erased;
    expect(headsIn(log)).toEqual({ long: 1 });
    expect(storedRowsNow('new')).toBe(0);
  });
});

describe('an erasure of a long session', () => {
  it('lets others append between its steps, and is done by the next start after a crash at each of them', async () => {
    const { copies, heads } = await crashesDuring(() => log.erase({ type: 'erase', sessionIds: ['long'] }));
    expect(copies.length).toBeGreaterThanOrEqual(3);
    for (const seen of heads) expect(seen).not.toHaveProperty('long');
    for (const [index, crash] of copies.entries()) {
      expect(await openedAfter(crash)).toEqual({ other: index + 1 });
      expect(storedRows(crash, 'long')).toBe(0);
    }
  });

  it('lets the id be used again before its last step', async () => {
    const erased = log.erase({ type: 'erase', sessionIds: ['long'] });
    expect(append('long', 0)).toEqual([]);
    await erased;
    expect(rowsOf('long')).toBe(1);
  });

  it('leaves no byte of it, also when a crash interrupts it', async () => {
    const { copies } = await crashesDuring(() => log.erase({ type: 'erase', sessionIds: ['long'] }));
    await log.erase({ type: 'erase', sessionIds: ['other'] });
    expect(filesWithText(join(root.path, 'data'))).toEqual([]);
    const crash = copies[1] ?? '';
    const next = new EventLog(openDatabase(crash), () => undefined);
    await next.erase({ type: 'erase', sessionIds: ['other'] });
    expect(filesWithText(crash)).toEqual([]);
    next[Symbol.dispose]();
  });
});

const filesWithText = (directory: string) =>
  readdirSync(directory).filter((name) => readFileSync(join(directory, name)).includes(text));
