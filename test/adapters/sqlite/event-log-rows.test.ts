import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSqliteEventStore } from '../../../src/adapters/sqlite/log/sqlite-event-store.ts';
import { repairEventLog } from '../../../src/adapters/sqlite/repair/repair-event-log.ts';
import type { SessionEvent } from '../../../src/core/log/events.ts';
import { type TempDirectory, tempDirectory } from '../../support/service/temp-directory.ts';
import { recordingLog } from '../../support/telemetry/recording-log.ts';

let directory: TempDirectory;
beforeEach(async () => {
  directory = await tempDirectory();
});
afterEach(() => directory[Symbol.asyncDispose]());

const open = () => openSqliteEventStore({ directory: directory.path, log: recordingLog() });
const started = (turnId: string): SessionEvent => ({ type: 'turn.started', turnId });
const turnIds = (events: readonly { readonly event: object }[]) =>
  events.map(({ event }) => ('turnId' in event ? event.turnId : undefined));

/** Runs SQL on the log while no store has it open. */
function onFile<T>(work: (db: DatabaseSync) => T): T {
  const db = new DatabaseSync(join(directory.path, 'events.db'));
  try {
    return work(db);
  } finally {
    db.close();
  }
}

/** Three appends: one of three events, one of one, one of two. */
async function fill(): Promise<void> {
  await using store = await open();
  await store.append('s', 0, ['a', 'b', 'c'].map(started));
  await store.append('s', 3, [started('d')]);
  await store.append('s', 4, ['e', 'f'].map(started));
  await store.append('other', 0, [started('x')]);
}

describe('the rows of an event log', () => {
  it('are as many as there were appends', async () => {
    await fill();
    expect(onFile((db) => db.prepare("SELECT seq FROM events WHERE session = 's'").all())).toEqual(
      [3, 4, 6].map((seq) => expect.objectContaining({ seq })),
    );
  });

  it('are read from any event on, up to any other', async () => {
    await fill();
    await using store = await open();
    const all = ['a', 'b', 'c', 'd', 'e', 'f'];
    for (let after = 0; after <= 6; after += 1) {
      for (let limit = 1; limit <= 7; limit += 1) {
        const read = await store.read('s', after, limit);
        expect(turnIds(read)).toEqual(all.slice(after, after + limit));
        expect(read.map(({ seq }) => seq)).toEqual(
          all.map((_, index) => index + 1).slice(after, after + limit),
        );
      }
    }
  });

  it('are split by a fork between their events, and the copy is intact', async () => {
    await fill();
    {
      await using store = await open();
      for (const at of [1, 2, 3, 4, 5, 6]) await store.fork('s', at, `at-${at}`, [started('own')]);
    }
    await using store = await open();
    for (const at of [1, 2, 3, 4, 5, 6])
      expect(turnIds(await store.read(`at-${at}`, 0))).toEqual([...'abcdef'.slice(0, at), 'own']);
    await store[Symbol.asyncDispose]();
    expect(await repairEventLog(directory.path)).toMatchObject({ healthy: true, sessions: 8 });
  });

  it('may be those of version 2, which go on as rows of this version', async () => {
    await fill();
    // A log of version 2 has one event a row, and no other difference.
    onFile((db) => db.exec('PRAGMA user_version = 2'));
    {
      await using store = await open();
      await store.append('other', 1, ['y', 'z'].map(started));
    }
    expect(onFile((db) => db.prepare('PRAGMA user_version').get())).toEqual({ user_version: 3 });
    await using store = await open();
    expect(turnIds(await store.read('other', 0))).toEqual(['x', 'y', 'z']);
  });

  it.each([
    ['changed', `UPDATE events SET data = replace(data, '"b"', '"B"') WHERE session = 's' AND seq = 3`, 0],
    ['all changed', "UPDATE events SET time = time + 1 WHERE session = 's'", 0],
    ['gone', "DELETE FROM events WHERE session = 's' AND seq = 4", 3],
    ['cut in two', "UPDATE events SET seq = 5, type = 'turn.started' WHERE session = 's' AND seq = 6", 4],
  ])('that are %s are lost as a whole, and nothing before them', async (_, sql, intactUpTo) => {
    await fill();
    onFile((db) => db.exec(sql));
    await expect(open()).rejects.toThrow(`damaged: session s lost seq ${intactUpTo + 1} to 6; nothing`);
    const lost = { sessionId: 's', intactUpTo, lostUpTo: 6 };
    expect(await repairEventLog(directory.path)).toMatchObject({ healthy: false, cut: [lost] });
    await using store = await open();
    expect(turnIds(await store.read('s', 0)).slice(0, intactUpTo)).toEqual([
      ...'abcdef'.slice(0, intactUpTo),
    ]);
    expect(turnIds(await store.read('other', 0))).toEqual(['x']);
  });
});
