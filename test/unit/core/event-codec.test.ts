import { describe, expect, it } from 'vitest';
import { ZodError } from 'zod';
import { memoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import { readExport } from '../../../src/cli/transfer/exported-session.ts';
import { currentEvents, LOG_FORMAT, NewerEventError } from '../../../src/core/log/event-codec.ts';
import type { EventMetadata } from '../../../src/core/log/event-metadata.ts';
import type { SessionEvent } from '../../../src/core/log/events.ts';
import { exportedLines, exportedText } from '../../support/log/exported-text.ts';
import { codecOfVersion, startedIn } from '../../support/log/older-events.ts';

const today = codecOfVersion(3);
const meta: EventMetadata = {
  id: 'e1',
  actor: { kind: 'client', principal: 'ada' },
  causationId: 'c1',
  correlationId: 't',
};

function stored(event: object, version: unknown, v: unknown = LOG_FORMAT): string {
  return JSON.stringify({ v, meta: { version }, ...event });
}

describe('the codec of events', () => {
  it('writes the format, the version of the type and the metadata beside the event, and reads them again', () => {
    const other = { ...meta, correlationId: 'c2' };
    const written = today.encode({ event: startedIn[3], meta: other });
    expect(JSON.parse(written)).toEqual({ v: 3, meta: { version: 3, ...other }, ...startedIn[3] });
    expect(today.decode(written)).toStrictEqual({ event: startedIn[3], meta: other });
  });

  it('leaves out the ids of metadata that are the id of the turn', () => {
    const own = { ...meta, causationId: 't', correlationId: 't' };
    const written = today.encode({ event: startedIn[3], meta: own });
    const { id, actor } = meta;
    expect(JSON.parse(written)).toEqual({ v: 3, meta: { version: 3, id, actor }, ...startedIn[3] });
    expect(today.decode(written)).toStrictEqual({ event: startedIn[3], meta: own });
  });

  it('writes nothing of a client that it could not read again', () => {
    const asked = (callId: string): SessionEvent => ({
      type: 'turn.requested',
      turnId: 't',
      text: 'hello',
      given: [{ role: 'tool', callId, name: 'look', text: 'found' }],
    });
    expect(() => currentEvents.encode({ event: asked(''), meta })).toThrow('given');
    const shared = { type: 'session.shared', grantId: 'g', sessionId: 'a b', access: 'read' } as const;
    expect(() => currentEvents.encode({ event: shared, meta })).toThrow('sessionId');
    const written = currentEvents.encode({ event: asked('c1'), meta });
    expect(currentEvents.decode(written).event).toEqual(asked('c1'));
  });

  it('refuses metadata of which a part is missing', () => {
    const reset = { v: 3, meta: { version: 1, id: 'e1' }, type: 'session.reset' };
    expect(() => today.decode(JSON.stringify(reset))).toThrow('actor');
  });

  it('writes the version alone for an event without metadata, and reads it as one without', () => {
    const written = today.encode({ event: startedIn[3], meta: null });
    expect(JSON.parse(written)).toEqual({ v: 3, meta: { version: 3 }, ...startedIn[3] });
    expect(today.decode(written)).toStrictEqual({ event: startedIn[3], meta: null });
  });

  it.each([
    ['of version 1', startedIn[1], 1],
    ['of version 2', startedIn[2], 2],
    ['of version 3', startedIn[3], 3],
  ])('reads an event %s as one of today', (_, event, version) => {
    expect(today.decode(stored(event, version)).event).toEqual(startedIn[3]);
  });

  it.each([
    ['without a format, which is 1', startedIn[1]],
    ['of format 1', { v: 1, ...startedIn[1] }],
    ['of format 2', { v: 2, ...startedIn[1] }],
  ])('reads an event %s as one of the first version of its type, without metadata', (_, event) => {
    expect(today.decode(JSON.stringify(event))).toEqual({ event: startedIn[3], meta: null });
  });

  it('takes each step for its own version alone', () => {
    expect(() => today.decode(stored(startedIn[1], 2))).toThrow(ZodError);
    expect(() => today.decode(stored(startedIn[2], 3))).toThrow(ZodError);
  });

  it('refuses an event of a newer version of its type, and names both', () => {
    const written = today.encode({ event: startedIn[3], meta: null });
    expect(() => codecOfVersion(2).decode(written)).toThrow(NewerEventError);
    expect(() => codecOfVersion(2).decode(written)).toThrow(
      'was written by a newer agent-service (turn.started events of version 3, this one knows 2); run that version',
    );
  });

  it('refuses a newer format, and names both', () => {
    expect(() => today.decode(stored(startedIn[3], 3, 4))).toThrow(
      'was written by a newer agent-service (events of version 4, this one knows 3); run that version',
    );
  });

  it.each([0, -1, 1.5, '2', null])('refuses %j for a format and for a version', (number) => {
    expect(() => today.decode(stored(startedIn[3], 3, number))).toThrow(ZodError);
    expect(() => today.decode(stored(startedIn[3], number))).toThrow(ZodError);
  });

  it.each([1, 2, 3] as const)('reads an export of events of version %i', async (version) => {
    const lines = exportedLines([startedIn[version], startedIn[version]], LOG_FORMAT, version);
    const { events } = await readExport(exportedText(lines), today);
    const read = [];
    for await (const { event } of events) read.push(event);
    expect(read).toEqual([startedIn[3], startedIn[3]]);
  });

  it('says which line of an export is newer than this program', async () => {
    await expect(readExport(exportedText(exportedLines([startedIn[3]], 4)), today)).rejects.toThrow(
      'x.jsonl:1: v: the event was written by a newer agent-service (events of version 4, this one knows 3)',
    );
    const lines = exportedLines([startedIn[3]], LOG_FORMAT, 4);
    await expect(readExport(exportedText(lines), today)).rejects.toThrow(
      'x.jsonl:1: v: the event was written by a newer agent-service (turn.started events of version 4, this one knows 3)',
    );
  });

  it('is what the memory store writes and reads by', async () => {
    const decoded = { event: startedIn[3], meta };
    await using store = memoryEventStore(Date.now, { ...today, decode: () => decoded });
    await store.append('s', 0, [{ type: 'session.deleted' }]);
    expect(await store.read('s', 0)).toMatchObject([decoded]);
  });
});

describe('the codec of this version', () => {
  it('writes one version for each type, whatever the other types have', () => {
    const reset = currentEvents.encode({ event: { type: 'session.reset' }, meta: null });
    expect(JSON.parse(reset)).toEqual({ v: 3, meta: { version: 1 }, type: 'session.reset' });
  });
});
