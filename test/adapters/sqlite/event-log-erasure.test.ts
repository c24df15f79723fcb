import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSqliteEventStore } from '../../../src/adapters/sqlite/log/sqlite-event-store.ts';
import type { SessionEvent } from '../../../src/core/log/events.ts';
import type { EventStore } from '../../../src/ports/event-store.ts';
import { type TempDirectory, tempDirectory } from '../../support/service/temp-directory.ts';
import { recordingLog } from '../../support/telemetry/recording-log.ts';

describe('what is erased from an event log', () => {
  let root: TempDirectory;
  let store: EventStore;
  beforeEach(async () => {
    root = await tempDirectory();
    store = await openSqliteEventStore({ directory: root.path, log: recordingLog() });
  });
  afterEach(async () => {
    await store[Symbol.asyncDispose]();
    await root[Symbol.asyncDispose]();
  });

  async function bytesOnDisk(): Promise<string> {
    const names = await readdir(root.path);
    expect(names).toContain('events.db');
    return (await Promise.all(names.map((name) => readFile(join(root.path, name), 'latin1')))).join('\n');
  }

  it('is gone from every file, among many sessions that were written together', async () => {
    const ids = Array.from({ length: 30 }, (_, index) => `session${index}x`);
    for (let seq = 0; seq < 20; seq += 1) {
      const length = seq % 7 === 0 ? 9000 : 150;
      await Promise.all(ids.map((id) => store.append(id, seq, [said(`secret-${id} `.repeat(length / 15))])));
    }
    const order = ids.toSorted((one, other) => (one.at(-2) ?? '').localeCompare(other.at(-2) ?? ''));
    for (const id of order.slice(0, 25)) {
      expect((await bytesOnDisk()).includes(`secret-${id}`)).toBe(true);
      await store.erase(id);
      expect((await bytesOnDisk()).includes(id)).toBe(false);
    }
    for (const id of order.slice(25)) expect(await store.read(id, 0)).toHaveLength(20);
  });

  it('does not come back, and raises no alarm, at the next start', async () => {
    await store.append('s', 0, [said('a'), said('b')]);
    await store.append('t', 0, [said('c')]);
    await store.erase('s');
    await store.append('s', 0, [said('d')]);
    await store[Symbol.asyncDispose]();
    const log = recordingLog();
    store = await openSqliteEventStore({ directory: root.path, log });
    expect((await store.read('s', 0)).map(({ event }) => event)).toEqual([said('d')]);
    expect(log.lines.filter(({ level }) => level === 'warn')).toEqual([]);
  });

  it('is no damage to a log without its high-water marks, but their absence is told', async () => {
    await store.append('s', 0, [said('a')]);
    await store[Symbol.asyncDispose]();
    await rm(join(root.path, 'events.heads'));
    const log = recordingLog();
    store = await openSqliteEventStore({ directory: root.path, log });
    expect(await store.read('s', 0)).toHaveLength(1);
    expect(log.lines.find(({ level }) => level === 'warn')?.message).toContain('events.heads is missing');
  });
});

function said(content: string): SessionEvent {
  return { type: 'turn.completed', turnId: 't', content };
}
