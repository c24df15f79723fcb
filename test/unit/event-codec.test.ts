import { describe, expect, it } from 'vitest';
import { ZodError } from 'zod';
import { memoryEventStore } from '../../src/adapters/memory/memory-event-store.ts';
import { readExport } from '../../src/cli/transfer/exported-session.ts';
import { currentEvents, NewerEventError } from '../../src/core/log/event-codec.ts';
import { upcasters } from '../../src/core/log/upcasters.ts';
import { exportedLines, exportedText } from '../support/exported-text.ts';
import { codecOfVersion, startedIn } from '../support/older-events.ts';

const today = codecOfVersion(3);

describe('the codec of events', () => {
  it('has the version that its last upcaster leads to', () => {
    expect(([1, 2, 3] as const).map((version) => codecOfVersion(version).version)).toEqual([1, 2, 3]);
    expect(currentEvents.version).toBe(upcasters.length + 1);
  });

  it('marks what it writes with its version, and version 1 by no mark', () => {
    expect(codecOfVersion(1).encode(startedIn[3])).toBe('{"type":"turn.started","turnId":"t"}');
    expect(today.encode(startedIn[3])).toBe('{"v":3,"type":"turn.started","turnId":"t"}');
  });

  it.each([
    ['without a mark, of version 1', startedIn[1]],
    ['of version 1', { v: 1, ...startedIn[1] }],
    ['of version 2', { v: 2, ...startedIn[2] }],
    ['of version 3', { v: 3, ...startedIn[3] }],
  ])('reads an event %s as one of today', (_, stored) => {
    expect(today.decode(JSON.stringify(stored))).toEqual(startedIn[3]);
  });

  it('takes each step for its own version alone', () => {
    expect(() => today.decode(JSON.stringify({ v: 2, ...startedIn[1] }))).toThrow(ZodError);
    expect(() => today.decode(JSON.stringify({ v: 3, ...startedIn[2] }))).toThrow(ZodError);
  });

  it('refuses an event of a newer version, and names both', () => {
    const written = today.encode(startedIn[3]);
    expect(() => codecOfVersion(2).decode(written)).toThrow(NewerEventError);
    expect(() => codecOfVersion(2).decode(written)).toThrow(
      'was written by a newer agent-service (events of version 3, this one knows 2); run that version',
    );
  });

  it.each([0, -1, 1.5, '2', null])('refuses %j for a version', (v) => {
    expect(() => today.decode(JSON.stringify({ v, ...startedIn[3] }))).toThrow(ZodError);
  });

  it.each([1, 2, 3] as const)('reads an export of version %i', async (version) => {
    const file = exportedText(exportedLines([startedIn[version], startedIn[version]], version));
    const { events } = await readExport(file, today);
    const read = [];
    for await (const { event } of events) read.push(event);
    expect(read).toEqual([startedIn[3], startedIn[3]]);
  });

  it('says which line of an export is newer than this program', async () => {
    await expect(readExport(exportedText(exportedLines([startedIn[3]], 4)), today)).rejects.toThrow(
      'x.jsonl:1: v: the event was written by a newer agent-service (events of version 4, this one knows 3)',
    );
  });

  it('is what the memory store writes and reads by', async () => {
    await using store = memoryEventStore(Date.now, { ...today, decode: () => startedIn[3] });
    await store.append('s', 0, [{ type: 'session.deleted' }]);
    expect(await store.read('s', 0)).toMatchObject([{ event: startedIn[3] }]);
  });
});
