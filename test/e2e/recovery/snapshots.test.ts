import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { openSqliteEventStore } from '../../../src/adapters/sqlite/log/sqlite-event-store.ts';
import type { SessionEvent } from '../../../src/core/log/events.ts';
import { stepCompleted } from '../../support/models/steps.ts';
import { RunningService } from '../../support/service/running-service.ts';
import { type TempDirectory, tempDirectory } from '../../support/service/temp-directory.ts';
import { eventsOf, viewOf } from '../../support/sessions/session-api.ts';
import { recordingLog } from '../../support/telemetry/recording-log.ts';
import { verifies } from '../requirements.ts';

const SYNC = '/api/message-sync';
const TURNS = 1_000;

/** A data directory with a session `s` of a thousand turns, and no snapshot yet. */
async function longLog(): Promise<TempDirectory> {
  const directory = await tempDirectory();
  const store = await openSqliteEventStore({ directory: directory.path, log: recordingLog() });
  const events = Array.from({ length: TURNS }, (_, index): SessionEvent[] => {
    const turnId = `turn-${index}`;
    return [
      { type: 'turn.requested', turnId, text: `unmistakable ${index}` },
      { type: 'turn.started', turnId },
      stepCompleted({ turnId, text: `re: ${index}` }),
      { type: 'turn.completed', turnId, content: `re: ${index}` },
    ];
  });
  await store.append('s', 0, events.flat());
  await store[Symbol.asyncDispose]();
  return directory;
}

/** Says something in the session, with a service that is started for it. */
async function talk(dataDir: string, message: string): Promise<void> {
  await using service = await RunningService.start({ dataDir });
  expect((await service.post(SYNC, { sessionId: 's', message })).status).toBe(200);
}

describe('the snapshot of a long session', () => {
  verifies('sessions.snapshot', async () => {
    await using directory = await longLog();
    const dataDir = directory.path;
    const file = join(dataDir, 'snapshots.db');
    await talk(dataDir, 'makes the first snapshot');
    expect(await readFile(file, 'latin1')).toContain('unmistakable 999');
    await talk(dataDir, 'after a restart');

    const looks = async (): Promise<unknown[]> => {
      await using service = await RunningService.start({ dataDir });
      const moments = ['', '?at=10', `?at=${TURNS * 4}`, `?at=${TURNS * 4 + 2}`];
      const views = await Promise.all(moments.map((query) => viewOf(service, 's', query)));
      return [...views, await eventsOf(service, 's')];
    };
    const withSnapshot = await looks();
    expect(withSnapshot[0]).toMatchObject({ head: TURNS * 4 + 8, turns: { completed: TURNS + 2 } });
    await rm(file);
    expect(await looks()).toEqual(withSnapshot);
  });

  verifies('sessions.snapshot', 'of which nothing is left when the session is deleted', async () => {
    await using directory = await longLog();
    const file = join(directory.path, 'snapshots.db');
    await talk(directory.path, 'makes the snapshot');
    expect(await readFile(file, 'latin1')).toContain('unmistakable');
    await using service = await RunningService.start({ dataDir: directory.path });
    expect((await service.fetch('/api/sessions/s', { method: 'DELETE' })).status).toBe(200);
    expect(await readFile(file, 'latin1')).not.toContain('unmistakable');
    await service.post(SYNC, { sessionId: 's', message: 'a new beginning' });
    const { history, head } = await viewOf(service, 's');
    expect(history[0]).toEqual({ role: 'user', content: 'a new beginning' });
    expect(head).toBeLessThan(10);
  });
});
