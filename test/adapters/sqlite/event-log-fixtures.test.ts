import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { memoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import { openSqliteEventStore } from '../../../src/adapters/sqlite/log/sqlite-event-store.ts';
import { exportSession } from '../../../src/cli/transfer/export-session.ts';
import { openExport, readExport } from '../../../src/cli/transfer/exported-session.ts';
import { importSession } from '../../../src/cli/transfer/import-session.ts';
import type { Envelope } from '../../../src/core/log/envelope.ts';
import { LOG_FORMAT } from '../../../src/core/log/event-codec.ts';
import { LoggedEvent, type SessionEvent } from '../../../src/core/log/events.ts';
import {
  CLEAR_SERVERS_STREAM,
  isSession,
  REQUEST_STREAMS,
  SERVER_SECRET_STREAMS,
  SERVERS_STREAM,
} from '../../../src/core/log/streams.ts';
import { decide } from '../../../src/core/session/session-decider.ts';
import { evolve, initialSessionState } from '../../../src/core/session/session-state.ts';
import type { EventStore } from '../../../src/ports/event-store.ts';
import { ofSession } from '../../../src/runtime/sessions/journal.ts';
import { exportedText, upgraded } from '../../support/log/exported-text.ts';
import { tempDirectory } from '../../support/service/temp-directory.ts';
import { foldedView } from '../../support/sessions/folded-view.ts';
import { recordingLog } from '../../support/telemetry/recording-log.ts';

/*
 * The log in test/fixtures/log-v1 was written when version 1 of the events was the current one, and so on, by
 * test/support/log/write-log-fixture.ts. They are never written again: what users have on their disks is not either.
 */

/** Younger than the newest fixture. */
const SINCE = [
  'tool-call.delegated',
  'input.requested',
  'input.answered',
  'sampling.completed',
  'output.rejected',
  'session.renamed',
  'session.described',
  'session.extended',
  'session.shared',
  'grant.revoked',
  'api-key.created',
  'api-key.revoked',
  'audit.recorded',
  'unprefixed-agent.chosen',
  'push.registered',
  'push.delivered',
] as const;

interface Fixture {
  readonly version: number;
  /** Streams and their heads. */
  readonly streams: Readonly<Record<string, number>>;
  /** Of the views that are pinned. */
  readonly moments: readonly number[];
  /** Types of events that it does not have: younger than it, or no longer written. */
  readonly lacking: readonly LoggedEvent['type'][];
}

const fixtures: readonly Fixture[] = [
  {
    version: 1,
    streams: { deleted: 4, eventful: 54, origin: 44, [CLEAR_SERVERS_STREAM]: 2 },
    moments: [38, 54],
    lacking: [
      ...SINCE,
      'mcp-server.registered',
      'secret.kept',
      'request.begun',
      'request.answered',
      'request.failed',
    ],
  },
  {
    version: 2,
    streams: {
      deleted: 4,
      eventful: 71,
      origin: 61,
      [`${REQUEST_STREAMS}request.answered`]: 2,
      [`${REQUEST_STREAMS}request.failed`]: 2,
      [`${SERVER_SECRET_STREAMS}s`]: 1,
      [SERVERS_STREAM]: 2,
    },
    moments: [55, 71],
    lacking: [...SINCE, 'mcp-server.added'],
  },
  {
    version: 3,
    streams: {
      deleted: 4,
      eventful: 71,
      origin: 61,
      [`${REQUEST_STREAMS}request.answered`]: 2,
      [`${REQUEST_STREAMS}request.failed`]: 2,
      [`${SERVER_SECRET_STREAMS}s`]: 1,
      [SERVERS_STREAM]: 2,
    },
    moments: [55, 71],
    lacking: [...SINCE, 'mcp-server.added'],
  },
];

const folderOf = (version: number) =>
  fileURLToPath(new URL(`../../fixtures/log-v${version}`, import.meta.url));
const exportOf = (version: number) => join(folderOf(version), 'eventful.jsonl');

const PinnedViews = z.array(z.looseObject({ at: z.int() }));

/** A copy of the stored data directory, open. */
async function openFixture(version: number) {
  const directory = await tempDirectory();
  await cp(join(folderOf(version), 'data'), directory.path, { recursive: true });
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
async function expectPinnedViews(
  { version, moments }: Fixture,
  envelopes: readonly Envelope[],
): Promise<void> {
  const text = await readFile(join(folderOf(version), 'eventful.views.json'), 'utf8');
  const pinned = PinnedViews.parse(JSON.parse(text));
  expect(pinned.map(({ at }) => at)).toEqual(moments);
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

async function exported(store: EventStore): Promise<string> {
  let text = '';
  for await (const line of exportSession(store, 'eventful')) text += line;
  return text;
}

function fold(envelopes: readonly Envelope[]) {
  return envelopes.reduce((folded, { event }) => evolve(folded, event), initialSessionState());
}

it('there is a fixture of each version', () => {
  expect(fixtures.map(({ version }) => version)).toEqual(
    Array.from({ length: LOG_FORMAT }, (_, index) => index + 1),
  );
});

describe.each(fixtures)('the data directory of version $version', (fixture) => {
  const { version, streams, lacking } = fixture;

  it('is opened without a word, and its sessions are listed', async () => {
    await using opened = await openFixture(version);
    expect(opened.log.lines).toEqual([]);
    expect(await opened.store.sessions()).toMatchObject(
      Object.entries(streams).map(([sessionId, head]) => ({ sessionId, head, open: isSession(sessionId) })),
    );
  });

  it('has every type of event that it may have', async () => {
    await using opened = await openFixture(version);
    const found = new Set<LoggedEvent['type']>();
    for (const { sessionId } of await opened.store.sessions()) {
      for (const { event } of await opened.store.read(sessionId, 0)) found.add(event.type);
    }
    const all = LoggedEvent.options.map((option) => option.shape.type.value);
    expect([...found, ...lacking].sort()).toEqual(all.sort());
  });

  it('folds to the state it had', async () => {
    await using opened = await openFixture(version);
    await expectPinnedViews(fixture, await eventful(opened.store));
  });

  it('can be appended to, and its turn goes on', async () => {
    await using opened = await openFixture(version);
    await expectToGoOn(opened.store);
  });

  it('is exported as one of today, which is imported as the same', async () => {
    await using opened = await openFixture(version);
    const text = await exported(opened.store);
    // To the last byte: the events of the older export, each as today's version has it.
    expect(text).toBe(upgraded(await readFile(exportOf(version), 'utf8')));
    await using store = memoryEventStore();
    await importSession(store, await readExport(exportedText(text)));
    expect(await eventful(store)).toEqual(await eventful(opened.store));
    expect(fold(await eventful(store))).toStrictEqual(fold(await eventful(opened.store)));
    expect(await exported(store)).toBe(text);
  });
});

describe.each(fixtures)('the export of version $version', (fixture) => {
  const { version, streams } = fixture;

  it('is imported, folds to the state it had, and goes on', async () => {
    await using store = memoryEventStore();
    const imported = await importSession(store, await readExport(openExport(exportOf(version))));
    expect(imported).toEqual({ sessionId: 'eventful', events: streams.eventful, open: true });
    await expectPinnedViews(fixture, await eventful(store));
    await expectToGoOn(store);
  });
});

it('the export of the current version is what its data directory exports, to the last byte', async () => {
  const version = LOG_FORMAT;
  await using opened = await openFixture(version);
  expect(await exported(opened.store)).toBe(await readFile(exportOf(version), 'utf8'));
});

it('the log of version 2 has a step with all that a reply may be made of', async () => {
  await using opened = await openFixture(2);
  const events = (await eventful(opened.store)).map(({ event }) => event);
  const steps = events.flatMap((event) => (event.type === 'step.completed' ? [event] : []));
  const parts = steps.flatMap((step) =>
    step.parts.map((part) => ('opaque' in part ? `${part.type}*` : part.type)),
  );
  expect([...new Set(parts)].sort()).toEqual(
    ['opaque', 'reasoning', 'refusal', 'text', 'text*', 'toolCall', 'toolCall*'].sort(),
  );
  const { refusals, transcript } = fold((await eventful(opened.store)).slice(0, 55));
  expect(refusals).toEqual({ inARow: 0, maxTokens: 2_000 });
  expect(transcript.filter(({ leftOut }) => leftOut)).not.toEqual([]);
});
