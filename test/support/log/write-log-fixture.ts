import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { openSqliteEventStore } from '../../../src/adapters/sqlite/log/sqlite-event-store.ts';
import { exportSession } from '../../../src/cli/transfer/export-session.ts';
import { LOG_FORMAT } from '../../../src/core/log/event-codec.ts';
import type { Origin } from '../../../src/core/log/event-metadata.ts';
import { REQUEST_STREAMS, SERVER_SECRET_STREAMS, SERVERS_STREAM } from '../../../src/core/log/streams.ts';
import { ofSession } from '../../../src/runtime/sessions/journal.ts';
import { silentLog } from '../service/running-service.ts';
import { foldedView } from '../sessions/folded-view.ts';
import { eventfulSession } from './eventful-session.ts';
import { SessionLog } from './session-log.ts';

/*
 * Writes the log that the tests of later versions read: a data directory, and an export of one session. To be run
 * once for each format of the log; what it has written is never written again.
 */
const folder = fileURLToPath(new URL(`../../fixtures/log-v${LOG_FORMAT}`, import.meta.url));
if (existsSync(folder)) throw new Error(`${folder} is there, and stays as it was written`);
mkdirSync(folder, { recursive: true });

const { past, closing, continued } = eventfulSession('origin');
const deleted = new SessionLog();
deleted.tell({ type: 'turn.start', turnId: 'd1', text: 'Forget me.' });
deleted.tell({ type: 'session.delete', partial: 'I' });

const store = await openSqliteEventStore({ directory: `${folder}/data`, log: silentLog });
const origin: Origin = { actor: { kind: 'client', principal: 'ada' }, causationId: 'c' };
await store.append('origin', 0, past, { open: true, origin });
await store.fork('origin', past.length, 'eventful', closing, { origin });
await store.append('eventful', past.length + closing.length, continued, {
  open: true,
  origin: { actor: { kind: 'agent' }, causationId: 'd' },
});
await store.append('deleted', 0, deleted.events, { open: true });
await store.append(SERVERS_STREAM, 0, [
  { type: 'mcp-server.registered', name: 'files', secretId: 's' },
  { type: 'mcp-server.removed', name: 'files' },
]);
await store.append(`${SERVER_SECRET_STREAMS}s`, 0, [{ type: 'secret.kept', sealed: '1.00000000.AAAA' }]);
const key = { id: 'k', fingerprint: 'f', expiresAt: 1_800_000_000_000 };
const error = { code: 'INTERNAL_ERROR', message: 'No.', details: {} } as const;
for (const end of [
  { type: 'request.answered', answer: { name: 'files' } },
  { type: 'request.failed', error },
] as const) {
  await store.append(`${REQUEST_STREAMS}${end.type}`, 0, [
    { type: 'request.begun', key, repeatable: true },
    end,
  ]);
}
let exported = '';
for await (const line of exportSession(store, 'eventful')) exported += line;
const envelopes = ofSession(await store.read('eventful', 0));
await store[Symbol.asyncDispose]();

// Before the reset, and at the end.
const moments = [envelopes.findIndex(({ event }) => event.type === 'session.reset'), envelopes.length];
const views = moments.map((at) => foldedView(envelopes.slice(0, at), envelopes.length));
writeFileSync(`${folder}/eventful.jsonl`, exported);
writeFileSync(`${folder}/eventful.views.json`, `${JSON.stringify(views, null, 2)}\n`);
