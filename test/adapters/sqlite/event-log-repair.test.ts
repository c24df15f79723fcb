import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EventLog } from '../../../src/adapters/sqlite/log/event-log.ts';
import { openSqliteEventStore } from '../../../src/adapters/sqlite/log/sqlite-event-store.ts';
import { openDatabase } from '../../../src/adapters/sqlite/open/open-database.ts';
import { type RepairReport, repairEventLog } from '../../../src/adapters/sqlite/repair/repair-event-log.ts';
import { withRepairLock } from '../../../src/adapters/sqlite/repair/repair-lock.ts';
import type { LoggedEvent } from '../../../src/core/log/events.ts';
import { messageOf } from '../../../src/core/thrown.ts';
import type { EventStore } from '../../../src/ports/event-store.ts';
import { contentsOf, crashedLog, randomIntegers } from '../../support/log/event-log-damage.ts';
import { stepCompleted } from '../../support/models/steps.ts';
import { type TempDirectory, tempDirectory } from '../../support/service/temp-directory.ts';
import { recordingLog } from '../../support/telemetry/recording-log.ts';

describe('repair of an event log', () => {
  let root: TempDirectory;
  let directory: string;
  beforeEach(async () => {
    root = await tempDirectory();
    directory = join(root.path, 'crashed');
    crashedLog(join(root.path, 'live'), directory, randomIntegers(8));
  });
  afterEach(async () => {
    await root[Symbol.asyncDispose]();
  });

  const open = () => openSqliteEventStore({ directory, log: recordingLog() });

  function loseWal(): void {
    writeFileSync(join(directory, 'events.db-wal'), '');
  }

  it('keeps a copy of the damaged files, for their owner alone, and tells where', async () => {
    loseWal();
    const before = contentsOf(directory);
    const { backup } = await repairEventLog(directory);
    if (backup === undefined) throw new Error('there is no backup');
    expect(contentsOf(backup)).toEqual(before);
    expect(statSync(backup).mode & 0o777).toBe(0o700);
    expect(statSync(join(directory, 'events.db')).mode & 0o777).toBe(0o600);
    expect(readdirSync(directory).filter((name) => name.startsWith('events.re'))).toEqual([]);
  });

  it('is refused while another one runs, and takes the place of one that was killed', async () => {
    loseWal();
    const before = contentsOf(directory);
    const during: Promise<unknown>[] = [];
    withRepairLock(directory, () => {
      during.push(repairEventLog(directory).catch(messageOf), repairEventLog(directory, { dryRun: true }));
    });
    const [refused, foreseen] = await Promise.all(during);
    expect(refused).toBe(`another repair of ${directory} is running; wait for its end`);
    expect(foreseen).toMatchObject({ healthy: false, dryRun: true });
    expect(contentsOf(directory)).toEqual(before);
    writeFileSync(join(directory, 'events.repair-lock'), '');
    expect(await repairEventLog(directory)).toMatchObject({ healthy: false });
    expect(readdirSync(directory)).not.toContain('events.repair-lock');
  });

  it('refuses a log that a later release has written, and changes nothing', async () => {
    const file = join(directory, 'events.db');
    {
      using db = new DatabaseSync(file);
      db.exec('PRAGMA user_version = 99');
    }
    loseWal();
    const before = contentsOf(directory);
    for (const dryRun of [true, false])
      await expect(repairEventLog(directory, { dryRun })).rejects.toThrow(
        `${file} was written by a newer agent-service (schema 99, this one knows 3)`,
      );
    expect(contentsOf(directory)).toEqual(before);
  });

  it('marks the sessions open that it had to cut, so that they are looked at', async () => {
    loseWal();
    const { cut } = await repairEventLog(directory);
    const kept = cut.filter(({ intactUpTo }) => intactUpTo > 0).map(({ sessionId }) => sessionId);
    expect(kept.length).toBeGreaterThan(0);
    await using store = await open();
    const listed = (await store.sessions({ open: true })).map(({ sessionId }) => sessionId);
    expect(listed).toEqual(expect.arrayContaining(kept));
  });

  it('counts the sessions of all agents, and not the streams of the service', async () => {
    loseWal();
    const { sessions, events } = await repairEventLog(directory);
    const message = { type: 'turn.requested', turnId: 't', text: 'hello' } as const;
    {
      await using store = await open();
      for (const stream of ['mine', '~agent:sales:mine', '~agent:sales:~servers', '~api-keys'])
        await store.append(stream, 0, [message]);
    }
    expect(await repairEventLog(directory)).toMatchObject({ sessions: sessions + 2, events: events + 4 });
  });

  it('keeps the titles, those of clients and those of first messages', async () => {
    const message = { type: 'turn.requested', turnId: 't', text: 'hello there\nand more' } as const;
    {
      await using store = await open();
      await store.append('named', 0, [message, { type: 'session.renamed', title: 'Mine' }]);
      await store.append('unnamed', 0, [message]);
      await store.append('again', 0, [message, { type: 'session.renamed', title: 'Mine' }]);
      await store.append('again', 2, [{ type: 'session.renamed', title: null }]);
    }
    {
      using db = new DatabaseSync(join(directory, 'events.db'));
      db.exec(`UPDATE events SET data = '{}' WHERE session = 'again' AND seq = 3`);
    }
    expect(await repairEventLog(directory)).toMatchObject({ healthy: false });
    await using store = await open();
    const titles = (await store.sessions()).map(({ sessionId, title }) => [sessionId, title]);
    expect(titles).toEqual(
      expect.arrayContaining([
        ['named', 'Mine'],
        ['unnamed', 'hello there'],
        ['again', 'Mine'],
      ]),
    );
  });

  it('ends the turns that it cut, as the report and the log say, and leaves them closed', async () => {
    const turns = join(root.path, 'turns');
    await cutTurns(turns);
    const foreseen = await repairEventLog(turns, { dryRun: true });
    const { endedTurns, cut, events } = await repairEventLog(turns);
    expect(foreseen).toMatchObject({ healthy: false, dryRun: true, endedTurns, cut, events });
    expect(foreseen.backup).toBeUndefined();
    expect(endedTurns).toEqual([
      { sessionId: 'cut', turnId: 'a' },
      { sessionId: 'cut', turnId: 'b' },
    ]);
    expect(cut).toEqual([{ sessionId: 'cut', intactUpTo: 5, lostUpTo: 7 }]);
    await using store = await openSqliteEventStore({ directory: turns, log: recordingLog() });
    const after = (await store.read('cut', 5)).map(({ event, meta }) => ({ ...event, actor: meta?.actor }));
    const end = { type: 'turn.cancelled', cause: { kind: 'session-repaired' }, actor: { kind: 'service' } };
    expect(after).toMatchObject([
      { type: 'tool-call.interrupted', turnId: 'a', callId: 'c1', cause: { kind: 'turn-cancelled' } },
      { ...end, turnId: 'a' },
      { ...end, turnId: 'b' },
    ]);
    expect(await store.sessions({ open: true })).toEqual([]);
    expect(await repairedAgain(store, turns)).toMatchObject({ healthy: true, endedTurns: [], events });
  });

  it('changes nothing in a dry run, which says what it would do', async () => {
    loseWal();
    const before = contentsOf(directory);
    const names = readdirSync(directory).toSorted();
    const foreseen = await repairEventLog(directory, { dryRun: true });
    expect(contentsOf(directory)).toEqual(before);
    expect(readdirSync(directory).toSorted()).toEqual(names);
    const { backup, ...done } = await repairEventLog(directory);
    expect(backup).toContain('events.damaged-');
    expect(foreseen).toEqual({ ...done, dryRun: true });
    expect(await repairEventLog(directory, { dryRun: true })).toMatchObject({ healthy: true, dryRun: true });
  });

  it('says in a dry run that it would finish one that was cut off', async () => {
    loseWal();
    const { sessions, events } = await repairEventLog(directory);
    renameSync(join(directory, 'events.db'), join(directory, 'events.repaired'));
    const finished = { healthy: true, finishedEarlier: true, sessions, events };
    expect(await repairEventLog(directory, { dryRun: true })).toMatchObject({ ...finished, dryRun: true });
    expect(readdirSync(directory)).toContain('events.repaired');
    expect(await repairEventLog(directory)).toMatchObject(finished);
  });

  it('that was cut off keeps the service from starting, and is finished by the next one', async () => {
    loseWal();
    await repairEventLog(directory);
    renameSync(join(directory, 'events.db'), join(directory, 'events.repaired'));
    writeFileSync(join(directory, 'events.db'), 'half of something else');
    await expect(open()).rejects.toThrow(`run it again: agent-service repair --data-dir ${directory}`);
    expect(readFileSync(join(directory, 'events.db'), 'latin1')).toBe('half of something else');
    expect(await repairEventLog(directory)).toMatchObject({ healthy: true });
    await using store = await open();
    expect((await store.sessions()).length).toBeGreaterThan(0);
  });

  it.each([
    ['', 'CREATE TABLE events (id INTEGER, name TEXT)'],
    [' with rows', "CREATE TABLE events (id INTEGER, name TEXT); INSERT INTO events VALUES (1, 'concert')"],
    [' without such a table', 'CREATE TABLE concerts (id INTEGER)'],
    [' with marks of its own', 'PRAGMA application_id = 7; CREATE TABLE events (id INTEGER)'],
  ])('is refused for a table of events of another program%s, and changes nothing', async (_, sql) => {
    const foreign = join(root.path, 'foreign');
    const file = join(foreign, 'events.db');
    mkdirSync(foreign);
    {
      using db = new DatabaseSync(file);
      db.exec(sql);
    }
    const before = contentsOf(foreign);
    for (const dryRun of [true, false])
      await expect(repairEventLog(foreign, { dryRun })).rejects.toThrow(
        `${file} is not an event log of agent-service; move it away or choose another data directory`,
      );
    expect(contentsOf(foreign)).toEqual(before);
    expect(readdirSync(foreign)).toEqual(['events.db']);
  });

  it('repairs a log whose own marks are damaged', async () => {
    {
      using db = new DatabaseSync(join(directory, 'events.db'));
      db.exec('PRAGMA application_id = 7');
    }
    expect(await repairEventLog(directory)).toMatchObject({ healthy: false, cut: [] });
    await using store = await open();
    expect((await store.sessions()).length).toBeGreaterThan(0);
  });

  it('does not mark a stream of the service open that it had to cut', async () => {
    const cut = join(root.path, 'streams');
    const log = new EventLog(openDatabase(cut), () => undefined);
    for (const sessionId of ['~audit:2026-01-01', 'unreadable'])
      log.append([1, 2].map((seq) => ({ sessionId, expectedSeq: seq - 1, types: ['x'], data: ['{}'] })));
    log[Symbol.dispose]();
    {
      using db = new DatabaseSync(join(cut, 'events.db'));
      db.exec(`UPDATE events SET data = '[]' WHERE seq = 2`);
    }
    expect((await repairEventLog(cut)).cut).toHaveLength(2);
    await using store = await openSqliteEventStore({ directory: cut, log: recordingLog() });
    const marked = (await store.sessions({ open: true })).map(({ sessionId }) => sessionId);
    expect(marked).toEqual(['unreadable']);
  });

  it('is refused while the service runs', async () => {
    await using store = await open();
    await store.append('new', 0, [{ type: 'session.reset' }]);
    await expect(repairEventLog(directory)).rejects.toThrow('stop the service first');
  });

  it('is refused where there is no log, and where nothing of one can be read', async () => {
    await expect(repairEventLog(root.path)).rejects.toThrow(`there is no event log in ${root.path}`);
    writeFileSync(join(directory, 'events.db'), 'x'.repeat(9000));
    loseWal();
    const before = contentsOf(directory);
    await expect(repairEventLog(directory)).rejects.toThrow('restore it from a backup');
    expect(contentsOf(directory)).toEqual(before);
    expect(readdirSync(directory).toSorted()).toEqual(['events.db', 'events.db-wal', 'events.heads']);
  });

  it('keeps what is left of a file that was cut off', async () => {
    const cut = join(root.path, 'cut off');
    const file = join(cut, 'events.db');
    const log = new EventLog(openDatabase(cut), () => undefined);
    const data = JSON.stringify({ text: 'x'.repeat(1_000) });
    for (let session = 0; session < 20; session += 1)
      log.append([{ sessionId: `s${session}`, expectedSeq: 0, types: ['x', 'x'], data: [data, data] }]);
    log[Symbol.dispose]();
    truncateSync(file, statSync(file).size - 5_000);
    const foreseen = await repairEventLog(cut, { dryRun: true });
    const report = await repairEventLog(cut);
    expect(report).toMatchObject({ healthy: false, cut: foreseen.cut, sessions: foreseen.sessions });
    expect(report.sessions).toBeGreaterThan(15);
    expect(report.sessions + report.cut.length).toBe(20);
    await using store = await openSqliteEventStore({ directory: cut, log: recordingLog() });
    expect(await store.sessions()).toHaveLength(report.sessions);
    expect(await repairedAgain(store, cut)).toMatchObject({ healthy: true });
  });

  it.each([
    ['was cut off before its first event', (file: string) => truncateSync(file, 4_096)],
    ['does not tell what a row of events is', (file: string) => damageTable(file, 'events')],
  ])('is refused for a file that %s', async (_, harm) => {
    const harmed = join(root.path, 'harmed');
    const log = new EventLog(openDatabase(harmed), () => undefined);
    log.append([{ sessionId: 's', expectedSeq: 0, types: ['x'], data: ['{}'] }]);
    log[Symbol.dispose]();
    harm(join(harmed, 'events.db'));
    const before = contentsOf(harmed);
    for (const dryRun of [true, false])
      await expect(repairEventLog(harmed, { dryRun })).rejects.toThrow('restore it from a backup');
    expect(contentsOf(harmed)).toEqual(before);
  });

  it('keeps all events of a file that does not tell what a row of another table is', async () => {
    {
      await using store = await open();
      await store.append('new', 0, [{ type: 'session.reset' }]);
    }
    damageTable(join(directory, 'events.db'), 'titles');
    expect(await repairEventLog(directory)).toMatchObject({ healthy: false, cut: [] });
    await using store = await open();
    expect(await store.read('new', 0)).toHaveLength(1);
  });

  it('leaves nothing behind when the new log cannot be written', async () => {
    loseWal();
    mkdirSync(join(directory, 'events.repairing', 'sub'), { recursive: true });
    await expect(repairEventLog(directory)).rejects.toThrow('events.repairing');
    expect(readdirSync(directory).filter((name) => name.startsWith('events.damaged'))).toEqual([]);
  });
});

/** A turn that called a tool, with one waiting behind it. The event after the call is damaged. */
async function cutTurns(directory: string): Promise<void> {
  const call = { turnId: 'a', callId: 'c1', toolName: 't', serverId: 's' };
  const events: LoggedEvent[] = [
    { type: 'turn.requested', turnId: 'a', text: 'pay' },
    { type: 'turn.started', turnId: 'a' },
    stepCompleted({ turnId: 'a', callIds: ['c1'] }),
    { type: 'tool-call.requested', ...call, name: 't', arguments: {}, repeatable: false },
    { type: 'turn.requested', turnId: 'b', text: 'and again' },
    { type: 'tool-call.succeeded', ...call, result: { content: [] } },
    stepCompleted({ turnId: 'a', step: 2, text: 'Paid.' }),
  ];
  {
    await using store = await openSqliteEventStore({ directory, log: recordingLog() });
    await store.append('cut', 0, events.slice(0, 5), { open: true });
    await store.append('cut', 5, events.slice(5));
    await store.append('whole', 0, events.slice(0, 2), { open: false });
  }
  const db = new DatabaseSync(join(directory, 'events.db'));
  db.exec("UPDATE events SET data = '{}' WHERE session = 'cut' AND seq = 7");
  db.close();
}

async function repairedAgain(store: EventStore, directory: string): Promise<RepairReport> {
  await store[Symbol.asyncDispose]();
  return repairEventLog(directory);
}

function damageTable(file: string, table: string): void {
  const bytes = readFileSync(file, 'latin1');
  writeFileSync(file, bytes.replace(`CREATE TABLE ${table}`, `CREATE XABLE ${table}`), 'latin1');
}
