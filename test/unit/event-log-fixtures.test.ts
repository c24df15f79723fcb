import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { memoryEventStore } from '../../src/adapters/memory/memory-event-store.ts';
import { openSqliteEventStore } from '../../src/adapters/sqlite/sqlite-event-store.ts';
import { exportSession } from '../../src/app/transfer/export-session.ts';
import { openExport, readExport } from '../../src/app/transfer/exported-session.ts';
import { importSession } from '../../src/app/transfer/import-session.ts';
import type { Envelope } from '../../src/contract/envelope.ts';
import { LoggedEvent, type SessionEvent } from '../../src/contract/events.ts';
import { SERVICE_STREAM } from '../../src/contract/streams.ts';
import { decide } from '../../src/domain/session-decider.ts';
import { evolve, initialSessionState } from '../../src/domain/session-state.ts';
import type { EventStore } from '../../src/ports/event-store.ts';
import { ofSession } from '../../src/runtime/journal.ts';
import { foldedView } from '../support/folded-view.ts';
import { recordingLog } from '../support/recording-log.ts';
import { tempDirectory } from '../support/temp-directory.ts';

/*
 * The log in test/fixtures/log-v1 was written when version 1 of the events was the current one, by
 * test/support/write-log-fixture.ts. It is never written again: what users have on their disks is not either.
 */
const fixture = fileURLToPath(new URL('../fixtures/log-v1', import.meta.url));
const exported = join(fixture, 'eventful.jsonl');

/** Types of events that the fixture does not have because they are younger than it. */
const laterThanFixture: readonly LoggedEvent['type'][] = [
  'request.begun',
  'request.answered',
  'request.failed',
];

const PinnedViews = z.array(z.looseObject({ at: z.int() }));

/** A copy of the stored data directory, open. */
async function openFixture() {
  const directory = await tempDirectory();
  await cp(join(fixture, 'data'), directory.path, { recursive: true });
  const log = recordingLog();
  const store = await openSqliteEventStore({ directory: directory.path, log });
  const dispose = async () => {
    await store[Symbol.asyncDispose]();
    await directory[Symbol.asyncDispose]();
  };
  return { store, log, [Symbol.asyncDispose]: dispose };
}

async function eventful(store: EventStore): Promise<Envelope[]> {
  return ofSession(await store.read('eventful', 0));
}

/** The session looks at each of these moments as it did when it was written. */
async function expectPinnedViews(envelopes: readonly Envelope[]): Promise<void> {
  const pinned = PinnedViews.parse(JSON.parse(await readFile(join(fixture, 'eventful.views.json'), 'utf8')));
  expect(pinned.map(({ at }) => at)).toEqual([38, 54]);
  const views = pinned.map(({ at }) => foldedView(envelopes.slice(0, at), envelopes.length));
  expect(views).toMatchObject(pinned);
}

/** Goes on with the session as a start does. */
function resumed(envelopes: readonly Envelope[]): SessionEvent[] {
  const state = envelopes.reduce((folded, { event }) => evolve(folded, event), initialSessionState());
  return decide(state, { type: 'turn.resume' }, { queuedMessages: false, whenBusy: 'enqueue' });
}

async function expectToGoOn(store: EventStore): Promise<void> {
  const envelopes = await eventful(store);
  const events = resumed(envelopes);
  expect(events.map(({ type }) => type)).toEqual(['turn.resumed', 'tool-call.interrupted']);
  await store.append('eventful', envelopes.length, events);
  expect((await eventful(store)).map(({ event }) => event)).toEqual([
    ...envelopes.map(({ event }) => event),
    ...events,
  ]);
}

describe('the data directory of version 1', () => {
  it('is opened without a word, and its sessions are listed', async () => {
    await using opened = await openFixture();
    expect(opened.log.lines).toEqual([]);
    expect(await opened.store.sessions()).toMatchObject([
      { sessionId: 'deleted', head: 4, open: true },
      { sessionId: 'eventful', head: 54, open: true },
      { sessionId: 'origin', head: 44, open: true },
      { sessionId: SERVICE_STREAM, head: 2, open: false },
    ]);
  });

  it('has every type of event that is not younger', async () => {
    await using opened = await openFixture();
    const found = new Set<LoggedEvent['type']>();
    for (const { sessionId } of await opened.store.sessions()) {
      for (const { event } of await opened.store.read(sessionId, 0)) found.add(event.type);
    }
    const all = LoggedEvent.options.map((option) => option.shape.type.value);
    expect([...found, ...laterThanFixture].sort()).toEqual(all.sort());
  });

  it('folds to the state it had', async () => {
    await using opened = await openFixture();
    await expectPinnedViews(await eventful(opened.store));
  });

  it('can be appended to, and its turn goes on', async () => {
    await using opened = await openFixture();
    await expectToGoOn(opened.store);
  });
});

describe('the export of version 1', () => {
  it('is what the data directory exports, to the last byte', async () => {
    await using opened = await openFixture();
    let again = '';
    for await (const line of exportSession(opened.store, 'eventful')) again += line;
    expect(again).toBe(await readFile(exported, 'utf8'));
  });

  it('is imported, folds to the state it had, and goes on', async () => {
    await using store = memoryEventStore();
    const imported = await importSession(store, await readExport(openExport(exported)));
    expect(imported).toEqual({ sessionId: 'eventful', events: 54, open: true });
    await expectPinnedViews(await eventful(store));
    await expectToGoOn(store);
  });
});
