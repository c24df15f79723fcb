import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSqliteEventStore } from '../../../src/adapters/sqlite/log/sqlite-event-store.ts';
import { type EventCodec, LOG_FORMAT } from '../../../src/core/log/event-codec.ts';
import { codecOfVersion, startedIn } from '../../support/log/older-events.ts';
import { type TempDirectory, tempDirectory } from '../../support/service/temp-directory.ts';
import { recordingLog } from '../../support/telemetry/recording-log.ts';

let directory: TempDirectory;
beforeEach(async () => {
  directory = await tempDirectory();
});
afterEach(() => directory[Symbol.asyncDispose]());

const open = (codec: EventCodec) =>
  openSqliteEventStore({ directory: directory.path, log: recordingLog(), codec });

/** The codec of a program of that version, whose schemas were others than those of today. */
function formerly(version: 1 | 2): EventCodec {
  const codec = codecOfVersion(version);
  const stored = { v: LOG_FORMAT, meta: { version }, ...startedIn[version] };
  return { ...codec, encode: () => JSON.stringify(stored) };
}

async function appendWith(codec: EventCodec, expectedSeq: number): Promise<void> {
  await using store = await open(codec);
  await store.append('s', expectedSeq, [startedIn[3]]);
}

describe('an event log that programs of several versions have written to', () => {
  it('is read, forked and gone on with as one of today', async () => {
    await appendWith(formerly(1), 0);
    await appendWith(formerly(2), 1);
    await using store = await open(codecOfVersion(3));
    await store.append('s', 2, [startedIn[3]]);
    await store.fork('s', 3, 'fork', [startedIn[3]]);
    expect((await store.read('s', 0)).map(({ event }) => event)).toEqual(Array(3).fill(startedIn[3]));
    expect((await store.read('fork', 0)).map(({ event }) => event)).toEqual(Array(4).fill(startedIn[3]));
  });

  it('is not read by an older program beyond what it knows, and that names both versions', async () => {
    await appendWith(codecOfVersion(1), 0);
    await appendWith(codecOfVersion(3), 1);
    await using store = await open(codecOfVersion(2));
    expect(await store.read('s', 0, 1)).toMatchObject([{ seq: 1, event: startedIn[3] }]);
    await expect(store.read('s', 1)).rejects.toThrow(
      'session s, seq 2 was written by a newer agent-service (turn.started events of version 3, this one knows 2); run that version',
    );
  });

  it('is not read by a program that does not know how its events are written, and that names both formats', async () => {
    const codec = codecOfVersion(3);
    const later = { v: LOG_FORMAT + 1, meta: { version: 3 }, ...startedIn[3] };
    await appendWith({ ...codec, encode: () => JSON.stringify(later) }, 0);
    await using store = await open(codec);
    await expect(store.read('s', 0)).rejects.toThrow(
      'session s, seq 1 was written by a newer agent-service (events of version 4, this one knows 3); run that version',
    );
  });
});
