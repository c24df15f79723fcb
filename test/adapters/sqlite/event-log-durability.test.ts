import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openDatabase } from '../../../src/adapters/sqlite/open/open-database.ts';
import { type CallMoment, filesAt, readTrace, whyNoTrace } from '../../support/log/system-calls.ts';
import { startTracedProcess } from '../../support/processes/child-process.ts';
import { skipAloud } from '../../support/project/skip-aloud.ts';
import { ServiceProcess } from '../../support/service/service-process.ts';
import { tempDirectory } from '../../support/service/temp-directory.ts';

const LOG = ['events.db', 'events.db-wal', 'events.heads'];

describe('the connection to the log', () => {
  it('has the settings that the promises of the log rest on', async () => {
    await using root = await tempDirectory();
    const { db, heads } = openDatabase(root.path);
    const setting = (name: string) => Object.values(db.prepare(`PRAGMA ${name}`).get() ?? {})[0];
    expect({
      synchronous: setting('synchronous'),
      journal: setting('journal_mode'),
      lock: setting('locking_mode'),
      overwritesErased: setting('secure_delete'),
      checkpointsWithin: setting('wal_autocheckpoint'),
      flushesDrive: [setting('fullfsync'), setting('checkpoint_fullfsync')],
    }).toEqual({
      synchronous: 2,
      journal: 'wal',
      lock: 'exclusive',
      overwritesErased: 1,
      checkpointsWithin: 0,
      flushesDrive: [1, 1],
    });
    db.close();
    heads?.[Symbol.dispose]();
  });
});

describe('the system calls of a log', () => {
  const isPrinted = ({ name, arguments: args }: CallMoment): boolean =>
    name === 'write' && args.startsWith('1<');
  /** The head of a WAL is written when the WAL begins anew, over what it held before. */
  const beginsWal = ({ file, arguments: args }: CallMoment): boolean =>
    file === 'events.db-wal' && /, 32, 0( <unfinished|\) )/.test(args);

  it('say that all is on the disk before it is told', async (test) => {
    skipAloud(test, whyNoTrace());
    await using root = await tempDirectory();
    const trace = join(root.path, 'trace');
    await using traced = startTracedProcess('syncing-process.ts', [join(root.path, 'data')], trace);
    expect(await traced.ended).toBe('');
    const calls = await readTrace(trace, traced.process.pid ?? 0);

    const told = filesAt(calls, [...LOG, 'snapshots.db'], isPrinted).map(({ mark, written, unsynced }) => [
      /"(.*)\\n"/.exec(mark)?.[1],
      written,
      unsynced,
    ]);
    // The marks may be behind the WAL after a loss of power, and never ahead of it.
    const appended = [['events.db-wal', 'events.heads'], ['events.heads']];
    expect(told).toEqual([
      ['appended 1', LOG, ['events.heads']],
      ['appended 2', ...appended],
      ['appended 3', ...appended],
      ['appended together', ...appended],
      ['forked', ...appended],
      ['imported', ...appended],
      ['appended behind a full WAL', LOG, ['events.heads']],
      ['probed', ['events.db-wal'], ['events.heads']],
      ['erased', LOG, ['events.heads']],
      // A snapshot may be lost, but must not come back.
      ['saved', ['snapshots.db'], ['events.heads', 'snapshots.db']],
      ['forgotten', ['snapshots.db'], ['events.heads']],
      ['saved again', ['snapshots.db'], ['events.heads', 'snapshots.db']],
    ]);

    const begun = filesAt(calls, LOG, beginsWal);
    expect(begun.length).toBeGreaterThan(1);
    for (const { unsynced } of begun) expect(unsynced).not.toContain('events.db');
  });

  it('say the same of what a service answers', async (test) => {
    skipAloud(test, whyNoTrace());
    await using root = await tempDirectory();
    const trace = join(root.path, 'trace');
    const args = ['--data-dir', join(root.path, 'data')];
    await using service = await ServiceProcess.listening(args, { trace });
    const posts = [
      ['/api/message-sync', { message: 'hello', sessionId: 's' }],
      ['/api/message-sync', { message: 'again', sessionId: 's' }],
      ['/api/sessions/s/fork', { sessionId: 'other' }],
      ['/api/reset', { sessionId: 's' }],
    ] as const;
    for (const [path, body] of posts) expect((await service.post(path, body)).status).toBe(200);
    expect((await service.fetch('/api/sessions/s', { method: 'DELETE' })).status).toBe(200);
    service.process.kill('SIGKILL');
    const calls = await readTrace(trace, service.process.pid);

    const isAnswer = ({ arguments: args }: CallMoment): boolean => args.includes('"HTTP/1.1 200 ');
    const answered = filesAt(calls, LOG, isAnswer);
    expect(answered).toHaveLength(posts.length + 1);
    for (const { written, unsynced } of answered) {
      expect(written).toContain('events.db-wal');
      expect(unsynced).toEqual(['events.heads']);
    }
  });
});
