import { cp, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect } from 'vitest';
import { memoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import { exportSession } from '../../../src/cli/transfer/export-session.ts';
import { type ExportedFile, openExport, readExport } from '../../../src/cli/transfer/exported-session.ts';
import { importSession } from '../../../src/cli/transfer/import-session.ts';
import { LOG_FORMAT } from '../../../src/core/log/event-codec.ts';
import type { SessionEvent } from '../../../src/core/log/events.ts';
import { type ReplayReport, replaySession } from '../../../src/replay/replay-session.ts';
import { exportedText } from '../../support/log/exported-text.ts';
import { filesWith } from '../../support/service/files-with.ts';
import { RunningService, SCRIPTED, silentLog } from '../../support/service/running-service.ts';
import { tempDirectory } from '../../support/service/temp-directory.ts';
import { listServers } from '../../support/tools/tool-server-client.ts';
import { verifies } from '../requirements.ts';

const fixture = fileURLToPath(new URL('../../fixtures/log-0.1.0', import.meta.url));
const exported = join(fixture, 'exports');
const sessions = (await readdir(exported)).map((file) => file.replace('.jsonl', ''));

async function replayed(session: string): Promise<ReplayReport> {
  const { events } = await readExport(openExport(join(exported, `${session}.jsonl`)));
  const recording: SessionEvent[] = [];
  for await (const { event } of events) recording.push(event);
  await using store = memoryEventStore();
  return await replaySession(recording, { store, log: silentLog });
}

/** What this version exports of a session that it has imported. */
async function exportedAgain(file: ExportedFile): Promise<string> {
  await using store = memoryEventStore();
  const { sessionId } = await importSession(store, await readExport(file));
  let text = '';
  for await (const line of exportSession(store, sessionId)) text += line;
  return text;
}

describe('a data directory of version 0.1.0', () => {
  verifies('log.0.1.0', async () => {
    await using directory = await tempDirectory();
    await cp(fixture, directory.path, { recursive: true });
    await using service = await RunningService.start({ yaml: SCRIPTED, dataDir: directory.path });
    const list = await (await service.fetch('/api/sessions')).text();
    for (const session of sessions) expect(list).toContain(`"${session}"`);
    expect(list).not.toContain('"gone"');
    const answer = await service.post('/api/message-sync', { message: 'who are you?', sessionId: 'plain' });
    expect(await answer.json()).toMatchObject({
      success: true,
      response: expect.stringContaining('scripted'),
    });
    const after = await (await service.fetch('/api/sessions/plain')).json();
    expect(after).toMatchObject({ session: { turns: { completed: 4 } } });
    const parent = await (await service.fetch('/api/sessions/approved/events')).text();
    expect(parent).toContain('"event":"toolApproved"');
  });

  verifies('log.0.1.0-secrets', async () => {
    await using directory = await tempDirectory();
    await cp(fixture, directory.path, { recursive: true });
    const secret = 'sekrit-4711';
    expect(await filesWith(directory.path, secret)).not.toEqual([]);
    for (const start of [1, 2]) {
      await using service = await RunningService.start({ yaml: SCRIPTED, dataDir: directory.path });
      expect({ start, files: await filesWith(directory.path, secret) }).toEqual({ start, files: [] });
      expect((await listServers(service)).map(({ name }) => name)).toContain('memory');
      const yaml = await (await service.fetch('/api/config.yaml')).text();
      expect(yaml).toContain('API_TOKEN');
    }
    expect(await filesWith(directory.path, secret)).toEqual([]);
  });

  for (const session of sessions) {
    verifies('log.0.1.0-export', session, async () => {
      const text = await exportedAgain(openExport(join(exported, `${session}.jsonl`)));
      const lines = text.trimEnd().split('\n');
      expect(lines.map((line) => JSON.parse(line).v)).toEqual(lines.map(() => LOG_FORMAT));
      expect(await exportedAgain(exportedText(text))).toBe(text);
      const { events } = await readExport(exportedText(text));
      const recording: SessionEvent[] = [];
      for await (const { event } of events) recording.push(event);
      await using store = memoryEventStore();
      const { difference } = await replaySession(recording, { store, log: silentLog });
      expect(difference).toBeNull();
    });
  }

  // `cancelled` too: its client gave the very sentence as a reason that 0.1.0 wrote for a reset.
  for (const session of sessions) {
    verifies('log.0.1.0-replay', session, async () => {
      const { difference, stateHash } = await replayed(session);
      expect(difference).toBeNull();
      expect(stateHash?.replayed).toBe(stateHash?.recorded);
    });
  }
});
