import { describe, expect, it } from 'vitest';
import { memoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import { exportSession } from '../../../src/cli/transfer/export-session.ts';
import { readExport } from '../../../src/cli/transfer/exported-session.ts';
import { importSession } from '../../../src/cli/transfer/import-session.ts';
import type { SessionId } from '../../../src/core/ids.ts';
import { currentEvents, LOG_FORMAT } from '../../../src/core/log/event-codec.ts';
import { SessionEvent } from '../../../src/core/log/events.ts';
import { record } from '../../../src/core/log/recorded-event.ts';
import type { EventStore } from '../../../src/ports/event-store.ts';
import { eventfulSession } from '../../support/log/eventful-session.ts';
import { exportedText } from '../../support/log/exported-text.ts';
import { CLIENT } from '../../support/sessions/origins.ts';

const { past, closing, continued } = eventfulSession('origin');
const events = [...past, ...closing, ...continued];

/** An export of the session `s`. The first event is of a log that had no metadata. */
function exportOf(session: readonly SessionEvent[]): string {
  const recorded = [...record(session.slice(0, 1), undefined), ...record(session.slice(1), CLIENT)];
  return recorded
    .map(({ event, meta }, index) => {
      const place = { sessionId: 's', seq: index + 1, time: 1_000 + index };
      const stored = currentEvents.stored({ event, meta });
      return `${JSON.stringify({ v: LOG_FORMAT, ...place, meta: stored, event: SessionEvent.parse(event) })}\n`;
    })
    .join('');
}

const lines = exportOf(events);

async function importText(store: EventStore, content: string | Uint8Array, as?: SessionId) {
  return importSession(store, await readExport(exportedText(content)), as);
}

async function exportText(store: EventStore, sessionId = 's'): Promise<string> {
  let text = '';
  for await (const line of exportSession(store, sessionId)) text += line;
  return text;
}

/** The lines with one of them changed. */
function withLine(number: number, change: (line: string) => string): string {
  return lines
    .split('\n')
    .map((line, index) => (index === number - 1 ? change(line) : line))
    .join('\n');
}

const withField = (number: number, fields: object) =>
  withLine(number, (line) => JSON.stringify({ ...JSON.parse(line), ...fields }));

describe('an exported session', () => {
  it('is imported with all its events and their times, and exported again to the last byte', async () => {
    await using store = memoryEventStore();
    expect(await importText(store, lines)).toEqual({ sessionId: 's', events: events.length, open: true });
    expect(await exportText(store)).toBe(lines);
    expect(await store.sessions()).toEqual([
      {
        sessionId: 's',
        title: 'What is this?',
        head: events.length,
        createdAt: 1_000,
        updatedAt: 999 + events.length,
        open: true,
      },
    ]);
  });

  it('brings the metadata of its events along, and of those without keeps none', async () => {
    await using store = memoryEventStore();
    await importText(store, lines);
    const [first, ...others] = await store.read('s', 0);
    expect(first?.meta).toBeNull();
    for (const { meta, seq } of others) {
      const { version, ...exported } = JSON.parse(lines.split('\n')[seq - 1] ?? '').meta;
      expect({ seq, meta }).toEqual({ seq, meta: exported });
      expect(meta?.causationId).toBe(CLIENT.causationId);
    }
    expect(new Set(others.map(({ meta }) => meta?.id)).size).toBe(events.length - 1);
  });

  it.each([1, 2, 3, 7, 1000])('may come in pieces of %i bytes', async (pieceBytes) => {
    await using store = memoryEventStore();
    await importSession(store, await readExport(exportedText(lines, pieceBytes)));
    expect(await exportText(store)).toBe(lines);
  });

  it('may have Windows line ends, a byte order mark, and no line end at the end', async () => {
    await using store = memoryEventStore();
    await importText(store, `\uFEFF${lines.trimEnd().replaceAll('\n', '\r\n')}`);
    expect(await exportText(store)).toBe(lines);
  });

  it('is marked open exactly when a turn is open at its end', async () => {
    await using store = memoryEventStore();
    const answered = past.slice(0, past.findIndex(({ type }) => type === 'turn.completed') + 1);
    expect(await importText(store, exportOf(answered))).toMatchObject({ open: false });
    expect(await importText(store, exportOf(answered.slice(0, -1)), 'cut')).toMatchObject({
      open: true,
    });
    expect((await store.sessions({ open: true })).map(({ sessionId }) => sessionId)).toEqual(['cut']);
  });

  it('takes another id if told to, and its events stay as they are', async () => {
    await using store = memoryEventStore();
    await importText(store, lines, 'other');
    expect(await exportText(store, 'other')).toBe(lines.replaceAll('"sessionId":"s"', '"sessionId":"other"'));
    expect(await store.sessions()).toHaveLength(1);
  });

  it('is refused under an id that is taken, with the way out', async () => {
    await using store = memoryEventStore();
    await importText(store, lines);
    await expect(importText(store, lines)).rejects.toThrow(
      'session s already exists; choose another id with --session',
    );
    expect(await exportText(store)).toBe(lines);
  });

  const [firstLine = ''] = lines.split('\n');
  const notUtf8 = Buffer.concat([Buffer.from(`${firstLine}\n`), Buffer.from([0xff, 0x0a])]);
  const second = JSON.parse(lines.split('\n')[1] ?? '');
  it.each([
    ['no JSON', withLine(2, () => '{"v":1,'), 'x.jsonl:2: is not JSON; expected an event'],
    ['an empty line', withLine(2, () => ''), 'x.jsonl:2: the line is empty'],
    ['another thing', withLine(2, () => '[]'), 'x.jsonl:2: expected a map'],
    ['no version', withField(2, { v: undefined }), 'x.jsonl:2: v: expected a number'],
    [
      'a newer version',
      withField(2, { v: 99 }),
      /x\.jsonl:2: v: .*newer agent-service \(events of version 99/,
    ],
    [
      'a newer version of an event',
      withField(2, { meta: { version: 99 } }),
      /x\.jsonl:2: v: .*newer agent-service \(turn\.started events of version 99/,
    ],
    [
      'a seq left out',
      withLine(2, () => ''.concat(lines.split('\n')[2] ?? '')),
      'x.jsonl:2: seq: found 3; expected 2',
    ],
    ['a seq that is text', withField(2, { seq: '2' }), 'x.jsonl:2: seq: expected a number'],
    ['another session', withField(2, { sessionId: 't' }), 'x.jsonl:2: sessionId: found t; expected s'],
    [
      'no session id',
      withField(1, { sessionId: '~service' }),
      'x.jsonl:1: sessionId: expected 1 to 128 characters',
    ],
    ['a time without a date', withField(2, { time: 9e15 }), 'x.jsonl:2: time: expected a number of at most'],
    ['no event', withField(2, { event: undefined }), 'x.jsonl:2: event: expected a map'],
    ['no metadata', withField(2, { meta: undefined }), 'x.jsonl:2: meta: expected a map'],
    [
      'a bad field of the metadata',
      withField(2, { meta: { version: 1, actor: 'me' } }),
      'x.jsonl:2: meta.actor: expected',
    ],
    [
      'an event whose type is a property of every object',
      withField(2, { event: { type: 'constructor' } }),
      'x.jsonl:2: event.type: expected one of',
    ],
    [
      'an unknown event',
      withField(2, { event: { type: 'turn.began' } }),
      'x.jsonl:2: event.type: expected one of',
    ],
    [
      'a bad field of an event',
      withField(2, { event: { ...second.event, turnId: 7 } }),
      'x.jsonl:2: event.turnId: expected a string',
    ],
    [
      'an event of the service',
      withField(2, { event: { type: 'mcp-server.removed', name: 'a' } }),
      'x.jsonl:2: event.type: found mcp-server.removed',
    ],
    [
      'what cannot have happened',
      withField(2, { event: { type: 'turn.completed', turnId: 'x', content: '' } }),
      'x.jsonl:2: turn.completed of turn x, which is not open',
    ],
    [
      'a deletion',
      withField(2, { event: { type: 'session.deleted' } }),
      'x.jsonl:2: event.type: the session was deleted',
    ],
    ['bytes that are no text', notUtf8, 'x.jsonl:2: is not UTF-8'],
    ['nothing', '', 'x.jsonl: it is empty'],
  ])('with %s is refused by line and field, and nothing is stored', async (_, content, message) => {
    await using store = memoryEventStore();
    await expect(importText(store, content)).rejects.toThrow(message);
    expect(await store.sessions()).toEqual([]);
  });
});

describe('an export', () => {
  it('of a session that is not there is refused', async () => {
    await using store = memoryEventStore();
    await expect(exportText(store)).rejects.toThrow('there is no session s');
  });

  it('of a long session has every event once', async () => {
    await using store = memoryEventStore();
    const turnIds = Array.from({ length: 2000 }, (_, index) => `t${index}`);
    await store.append(
      's',
      0,
      turnIds.map((turnId) => ({ type: 'turn.started', turnId })),
    );
    const turns = (await exportText(store))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).event.turnId);
    expect(turns).toEqual(turnIds);
  });
});
