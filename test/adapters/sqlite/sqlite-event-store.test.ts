import { mkdir, readdir, readFile, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadSqlite } from '../../../src/adapters/sqlite/file/load-sqlite.ts';
import { type LogThread, logThread } from '../../../src/adapters/sqlite/log/log-thread.ts';
import {
  openSqliteEventStore,
  SqliteEventStore,
} from '../../../src/adapters/sqlite/log/sqlite-event-store.ts';
import { repairEventLog } from '../../../src/adapters/sqlite/repair/repair-event-log.ts';
import type { SessionEvent } from '../../../src/core/log/events.ts';
import { StorageFullError } from '../../../src/core/log/storage-full.ts';
import { nextLoop } from '../../../src/timing/next-loop.ts';
import { startLimitedProcess, startSupportProcess } from '../../support/processes/child-process.ts';
import { type TempDirectory, tempDirectory } from '../../support/service/temp-directory.ts';
import { recordingLog } from '../../support/telemetry/recording-log.ts';

describe('the SQLite event store', () => {
  let root: TempDirectory;
  let directory: string;
  let file: string;
  beforeEach(async () => {
    root = await tempDirectory();
    directory = join(root.path, 'new', 'data');
    file = join(directory, 'events.db');
  });
  afterEach(async () => {
    await root[Symbol.asyncDispose]();
  });

  function open(log = recordingLog()) {
    return openSqliteEventStore({ directory, log });
  }

  /** Makes an event log with three events, then does to it what only somebody else would do. */
  async function tampered(tamper: (db: DatabaseSync) => void, later: SessionEvent[] = []): Promise<void> {
    await using store = await open();
    for (const [seq, id] of ['a', 'b', 'c'].entries()) await store.append('s', seq, [started(id)]);
    // Each is a row of its own.
    await Promise.all(later.map((event, seq) => store.append('later', seq, [event])));
    await store[Symbol.asyncDispose]();
    const { DatabaseSync } = loadSqlite();
    const db = new DatabaseSync(file);
    tamper(db);
    db.close();
  }

  describe('on disk', () => {
    it('has everything again when it is opened again', async () => {
      const first = await open();
      const stored = await first.append('s', 0, [started('a'), started('b')]);
      await first[Symbol.asyncDispose]();

      await using second = await open();
      expect(await second.read('s', 0)).toEqual(stored);
      await expect(second.append('s', 0, [started('x')])).rejects.toMatchObject({ actual: 2 });
      expect(await second.append('s', 2, [started('c')])).toMatchObject([{ seq: 3 }]);
    });

    it('removes the copy of a backup that nobody has fetched', async () => {
      const first = await open();
      await first.append('s', 0, [started('a')]);
      const { file: copy } = await first.backup();
      await first[Symbol.asyncDispose]();
      await using second = await open();
      await expect(stat(copy)).rejects.toThrow('ENOENT');
      expect(await second.read('s', 0)).toHaveLength(1);
    });

    it('leaves a copy to whoever has asked for it when the next one is made, and removes one that is old', async () => {
      await using store = await open();
      await store.append('s', 0, [started('a')]);
      const { file: old } = await store.backup();
      await utimes(old, 1, 1);
      const { file: first } = await store.backup();
      const made = await readFile(first);
      await store.append('s', 1, [started('b')]);
      const { file: second } = await store.backup();
      expect(await readFile(first)).toEqual(made);
      expect(
        (await readdir(dirname(first))).filter((name) => name.startsWith('events.backup')).toSorted(),
      ).toEqual([first, second].map((path) => basename(path)).toSorted());
    });

    it('keeps its WAL short while it is appended to', async () => {
      await using store = await open();
      const megabytes = async (name: string) => (await stat(name)).size / 2 ** 20;
      const long = started('x'.repeat(400_000));
      for (let seq = 0; seq < 50; seq += 1) await store.append('s', seq, [long]);
      expect(await megabytes(file)).toBeGreaterThan(10);
      expect(await megabytes(`${file}-wal`)).toBeLessThan(10);
    });

    it('leaves one file behind, with nothing in a journal', async () => {
      const store = await open();
      await store.append('s', 0, [started('a')]);
      await store[Symbol.asyncDispose]();
      await expect(stat(`${file}-wal`)).rejects.toThrow('ENOENT');
      await expect(stat(`${file}-journal`)).rejects.toThrow('ENOENT');
    });

    it('creates directory, parents and file for their owner alone', async () => {
      await using store = await open();
      await store.append('s', 0, [started('a')]);
      const modes = await Promise.all([join(directory, '..'), directory, file, `${file}-wal`].map(modeOf));
      expect(modes).toEqual([0o700, 0o700, 0o600, 0o600]);
    });

    it('is written to by a probe, as by an append, and is whole at the next start', async () => {
      const syncs: number[] = [];
      const store = await openSqliteEventStore({
        directory,
        log: recordingLog(),
        onCommit: (syncMs) => syncs.push(syncMs),
      });
      const stored = await store.append('s', 0, [started('a')]);
      expect(syncs).toEqual([expect.any(Number)]);
      expect(syncs[0]).toBeGreaterThan(0);
      const before = (await stat(`${file}-wal`)).size;
      await store.probe();
      expect((await stat(`${file}-wal`)).size).toBeGreaterThan(before);
      await store[Symbol.asyncDispose]();

      const log = recordingLog();
      await using again = await open(log);
      expect(await again.read('s', 0)).toEqual(stored);
      expect(log.lines.filter(({ level }) => level === 'warn')).toEqual([]);
    });

    it('lives in a directory of any name', async () => {
      directory = join(root.path, 'file:ü #?%20&immutable=1');
      const first = await open();
      const stored = await first.append('s', 0, [started('a')]);
      await first[Symbol.asyncDispose]();
      await using second = await open();
      expect(await second.read('s', 0)).toEqual(stored);
    });

    it('begins anew with an empty file, which a start that was cut off leaves', async () => {
      directory = root.path;
      await writeFile(join(directory, 'events.db'), '');
      await using store = await open();
      expect(await store.append('s', 0, [started('a')])).toHaveLength(1);
    });
  });

  describe('killed', () => {
    it('has lost no acknowledged append, and starts again at once', async () => {
      await using child = startSupportProcess('appending-process.ts', [directory]);
      expect((await child.lines.next()).value).toBe('opened');
      child.process.stdin.write('go\n');
      const acknowledged: string[] = [];
      for (let line = await child.lines.next(); line.done !== true; line = await child.lines.next()) {
        acknowledged.push(line.value);
        if (acknowledged.length === 300) child.process.kill('SIGKILL');
      }
      await child.ended;
      expect(child.process.signalCode).toBe('SIGKILL');
      expect(acknowledged.length).toBeGreaterThanOrEqual(300);

      await using store = await open();
      const envelopes = (await Promise.all(['a', 'b', 'c', 'd'].map((id) => store.read(id, 0)))).flat();
      const found = new Set(envelopes.map(({ sessionId, seq }) => `${sessionId} ${seq}`));
      expect(acknowledged.filter((line) => !found.has(line))).toEqual([]);
      const lastOfA = envelopes.filter(({ sessionId }) => sessionId === 'a').length;
      expect(await store.append('a', lastOfA, [started('next')])).toHaveLength(1);
    });
  });

  describe('without space on the disk', () => {
    it('refuses the append and the probe that do not fit, has all before them, and goes on when there is space', async () => {
      await using child = startLimitedProcess('filling-process.ts', [directory], 1_500_000);
      const line = await child.lines.next();
      const [acknowledged, readable, ...failure] = String(line.value).split(' ');
      await child.ended;
      expect(Number(acknowledged)).toBeGreaterThan(10);
      expect(readable).toBe(acknowledged);
      expect(failure.join(' ')).toContain(`cannot append to ${file}`);
      expect(failure.join(' ')).toContain(`and cannot write to ${file}`);

      await using store = await open();
      expect(await store.read('s', 0)).toHaveLength(Number(acknowledged));
      expect(await store.append('s', Number(acknowledged), [started('a')])).toHaveLength(1);
    });

    it('says so in a class of its own, also where it comes from the thread', async () => {
      const long = [started('x'.repeat(400_000))];
      const before = await open();
      await before.append('s', 0, long);
      await before[Symbol.asyncDispose]();

      await using store = await openSqliteEventStore({
        directory,
        log: recordingLog(),
        thread: fullThread(),
      });
      for (const ask of [() => store.append('s', 1, long), () => store.fork('s', 1, 'other')]) {
        const error = await ask().catch((thrown: unknown) => thrown);
        expect(error).toBeInstanceOf(StorageFullError);
        expect(error).toMatchObject({ message: expect.stringContaining('free some space on its disk') });
      }
      await expect(store.fork('nobody', 1, 'other')).rejects.not.toBeInstanceOf(StorageFullError);
    });

    /** The thread of the log, for which SQLite has no page more than the file has already. */
    function fullThread(): LogThread {
      const file = new URL('../../../src/adapters/sqlite/log/event-log-worker.ts', import.meta.url);
      const source = `
        const { DatabaseSync } = require('node:sqlite');
        const { exec } = DatabaseSync.prototype;
        DatabaseSync.prototype.exec = function (sql) {
          exec.call(this, sql === 'BEGIN IMMEDIATE' ? 'PRAGMA max_page_count = 1; BEGIN IMMEDIATE' : sql);
        };
        import(${JSON.stringify(file.href)});`;
      return logThread(new Worker(source, { eval: true }));
    }
  });

  describe('opened a second time', () => {
    it('is refused in the same process, and the first goes on', async () => {
      await using first = await open();
      await expect(open()).rejects.toThrow(`data directory ${directory} is in use by another agent-service`);
      expect(await first.append('s', 0, [started('a')])).toHaveLength(1);
    });

    it('is refused while another process has it, also after a refusal inside that process', async () => {
      await using child = startSupportProcess('appending-process.ts', [directory, 'open-twice']);
      expect((await child.lines.next()).value).toBe('opened');
      await expect(open()).rejects.toThrow(`data directory ${directory} is in use by another agent-service`);
    });

    it('succeeds when the first was closed', async () => {
      await (await open())[Symbol.asyncDispose]();
      await using second = await open();
      expect(await second.read('s', 0)).toEqual([]);
    });
  });

  describe('refuses and leaves as it is', () => {
    it.each([
      ['text', Buffer.from('Dear diary, '.repeat(1000))],
      ['zeros', Buffer.alloc(8192)],
      ['a single byte', Buffer.from('x')],
    ])('a file of %s', async (_, bytes) => {
      directory = root.path;
      await writeFile(join(directory, 'events.db'), bytes);
      await expect(open()).rejects.toThrow(/events\.db.*another data directory/);
      expect(await readFile(join(directory, 'events.db'))).toEqual(bytes);
    });

    it.each([
      ['a newer version', 'PRAGMA user_version = 4', /newer agent-service \(schema 4, this one knows 3\)/],
      ['a database of another program', 'PRAGMA application_id = 7', /not an event log of agent-service/],
      ['an unmarked database with tables', 'PRAGMA application_id = 0', /not an event log of agent-service/],
    ])('%s', async (_, sql, message) => {
      await tampered((db) => db.exec(sql));
      const before = await readFile(file);
      await expect(open()).rejects.toThrow(message);
      await expect(open()).rejects.toThrow(file);
      expect(await readFile(file)).toEqual(before);
    });

    it('an event log that was cut off', async () => {
      await tampered((db) => db.exec('PRAGMA journal_mode = DELETE'));
      const bytes = (await readFile(file)).subarray(0, 4096);
      await writeFile(file, bytes);
      await expect(open()).rejects.toThrow(
        /events\.db is damaged: .*; nothing was changed; .*agent-service repair --data-dir/,
      );
      expect(await readFile(file)).toEqual(bytes);
    });

    it('a data directory that is a file', async () => {
      directory = join(root.path, 'taken');
      await writeFile(directory, 'x');
      await expect(open()).rejects.toThrow(`cannot create ${join(directory, 'events.db')}`);
      expect(await readFile(directory, 'utf8')).toBe('x');
    });

    it.each(['events.db', 'events.heads'])('a data directory in which %s is a folder', async (name) => {
      await mkdir(join(directory, name), { recursive: true });
      const message = `${join(directory, name)} is not a file; move it away, or choose another folder`;
      await expect(open()).rejects.toThrow(message);
      await expect(repairEventLog(directory)).rejects.toThrow(message);
      expect(await readdir(directory)).toEqual([name]);
    });

    it.each([
      ['below a file', 'file/data', /file\/data there is a file in place of a folder/],
      ['that is a link to nothing', 'link', /link is a link that leads nowhere/],
      ['below a link to nothing', 'link/data', /link is a link that leads nowhere/],
      ['below a link to itself', 'circle/data', /circle is a link that leads nowhere/],
      ['of a name that is too long', 'x'.repeat(300), /ENAMETOOLONG/],
      // Node's own way to make a folder with its parents does not end here.
      ['in a file system that the kernel makes up', '/proc/agent-service/data', /\/proc/],
    ])('a data directory %s, and says at once why and what to do', async (_, place, reason) => {
      await writeFile(join(root.path, 'file'), 'x');
      await symlink('nothing', join(root.path, 'link'));
      await symlink('circle', join(root.path, 'circle'));
      directory = resolve(root.path, place);
      const opening = open();
      await expect(opening).rejects.toThrow(reason);
      await expect(opening).rejects.toThrow(/^cannot create .*; choose another folder with --data-dir$/);
      expect(await readdir(root.path)).toEqual(['circle', 'file', 'link']);
    });
  });

  describe('reading', () => {
    /** More than is looked at when the log is opened. */
    const later = Array.from({ length: 2000 }, (_, index) => started(`t${index}`));

    it.each([
      ['is no JSON', `UPDATE events SET data = '{"type":' WHERE seq = 2 AND session = 's'`],
      [
        'is another event',
        `UPDATE events SET data = '{"type":"session.reset"}' WHERE seq = 2 AND session = 's'`,
      ],
      ['is from another time', "UPDATE events SET time = time + 1 WHERE seq = 2 AND session = 's'"],
      ['is of another type', `UPDATE events SET type = 'turn.failed' WHERE seq = 2 AND session = 's'`],
      ['is missing', "DELETE FROM events WHERE seq = 2 AND session = 's'"],
    ])('names session and seq of a row that %s, and says how to repair', async (_, sql) => {
      await tampered((db) => db.exec(sql), later);
      await using store = await open();
      await expect(store.read('s', 0)).rejects.toThrow(
        new RegExp(`session s, seq 2 cannot be read: .*agent-service repair --data-dir ${directory}$`),
      );
      expect(await store.read('s', 0, 1)).toMatchObject([{ seq: 1 }]);
      expect(await store.read('later', 0)).toHaveLength(2000);
    });

    it.each([
      ['says less than is there', 'UPDATE sessions SET head = 2'],
      ['says more than is there', 'UPDATE sessions SET head = 4'],
      ['has another hash', `UPDATE sessions SET hash = 'x'`],
      ['has another time', 'UPDATE sessions SET updated = 0'],
      ['is gone', 'DELETE FROM sessions'],
    ])('refuses a session whose row in the index %s', async (_, sql) => {
      await tampered((db) => db.exec(`${sql} WHERE session = 's'`), later);
      await using store = await open();
      await expect(store.read('s', 0)).rejects.toThrow('agent-service repair');
      const appends = await Promise.allSettled(
        [0, 2, 3, 4].map((seq) => store.append('s', seq, [started('x')])),
      );
      expect(new Set(appends.map(({ status }) => status))).toEqual(new Set(['rejected']));
      expect(await store.read('later', 0)).toHaveLength(2000);
    });

    it('lets appends through between the pages of a long session', async () => {
      await using store = await open();
      await store.append(
        'long',
        0,
        Array.from({ length: 5000 }, (_, index) => started(`t${index}`)),
      );
      const order: string[] = [];
      const read = store.read('long', 0).then(() => order.push('read'));
      const append = store.append('s', 0, [started('a')]).then(() => order.push('append'));
      await Promise.all([read, append]);
      expect(order).toEqual(['append', 'read']);
    });
  });

  describe('group commit', () => {
    it('puts the appends that arrive during a commit into the next one', async () => {
      const log = recordingLog();
      await using store = await open(log);
      const first = store.append('first', 0, [started('a')]);
      // Behind the immediate that sends the batch, in the same loop: its answer cannot have come.
      await nextLoop();
      const others = Array.from({ length: 50 }, (_, index) => store.append(`s${index}`, 0, [started('b')]));
      const stale = store.append('s0', 9, [started('c')]);
      await expect(stale).rejects.toMatchObject({ actual: 1 });
      await Promise.all([first, ...others]);
      const batches = log.lines.filter(({ message }) => message === 'event log: batch committed');
      expect(batches.map(({ fields }) => fields)).toEqual([
        { appends: 1, refused: 0 },
        { appends: 51, refused: 1 },
      ]);
    });

    it('sends one alone at once, and several with those of the next loop', async () => {
      const log = recordingLog();
      await using store = await open(log);
      const pair = [store.append('a', 0, [started('t')]), store.append('b', 0, [started('t')])];
      await nextLoop();
      await Promise.all([...pair, store.append('c', 0, [started('t')])]);
      const lone = store.append('d', 0, [started('t')]);
      await nextLoop();
      await Promise.all([lone, store.append('e', 0, [started('t')])]);
      const batches = log.lines.filter(({ message }) => message === 'event log: batch committed');
      expect(batches.map(({ fields }) => fields.appends)).toEqual([3, 1, 1]);
    });

    it('asks for an addendum when the batch is sent, and leaves who came too late for that to the next', async () => {
      const log = recordingLog();
      await using store = await open(log);
      const origin = { actor: { kind: 'agent' }, causationId: 'c' } as const;
      const isReady = new Set<string>();
      const append = (id: string) =>
        store.append(id, 0, [started('a')], {
          origin,
          addendum: () => (isReady.has(id) ? { events: [started('b')], origin, open: false } : null),
        });
      const appends = [append('a'), append('b')];
      await nextLoop();
      appends.push(append('c'), store.append('d', 0, [started('d')]));
      isReady.add('a').add('c');
      const lengths = (await Promise.all(appends)).map((envelopes) => envelopes.length);
      expect(lengths).toEqual([2, 1, 2, 1]);
      const batches = log.lines.filter(({ message }) => message === 'event log: batch committed');
      expect(batches.map(({ fields }) => fields.appends)).toEqual([3, 1]);
    });
  });

  describe('a thread that dies', () => {
    function storeOnDoomedThread(log = recordingLog()): SqliteEventStore {
      const source = `require('node:worker_threads').parentPort.once('message', () => { throw new Error('boom'); })`;
      return new SqliteEventStore(logThread(new Worker(source, { eval: true })), { log });
    }

    it('rejects everything pending and everything later, and says so in the log', async () => {
      const log = recordingLog();
      const store = storeOnDoomedThread(log);
      const pending = [
        store.append('a', 0, [started('1')]),
        store.read('a', 0),
        store.append('a', 1, [started('2')]),
      ];
      const results = await Promise.allSettled(pending);
      expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
      await expect(store.append('b', 0, [started('3')])).rejects.toThrow('its thread has died');
      await expect(store.read('b', 0)).rejects.toThrow('its thread has died');
      expect(log.lines.filter(({ level }) => level === 'error')).toMatchObject([
        { fields: { err: { cause: { message: 'boom' } } } },
      ]);
    });

    it('can still be disposed of', async () => {
      const store = storeOnDoomedThread();
      await expect(store.append('a', 0, [started('1')])).rejects.toThrow('its thread has died');
      await expect(store[Symbol.asyncDispose]()).resolves.toBeUndefined();
    });
  });

  it('silences the warning that SQLite is experimental, and no other', async () => {
    await using child = startSupportProcess('warning-process.ts', [directory]);
    const errors = await child.ended;
    expect(child.process.exitCode).toBe(0);
    expect(errors).toContain('ExperimentalWarning: Teleportation is an experimental feature');
    expect(errors).not.toContain('SQLite');
  });
});

function started(turnId: string): SessionEvent {
  return { type: 'turn.started', turnId };
}

async function modeOf(path: string): Promise<number> {
  return (await stat(path)).mode & 0o777;
}
