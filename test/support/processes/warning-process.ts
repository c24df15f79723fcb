import { loadSqlite } from '../../../src/adapters/sqlite/file/load-sqlite.ts';
import { openSqliteEventStore } from '../../../src/adapters/sqlite/log/sqlite-event-store.ts';
import { recordingLog } from '../telemetry/recording-log.ts';

/* Loads SQLite in both threads, then warns of another experiment. Its argument is a data directory. */

const [directory] = process.argv.slice(2);
if (directory === undefined) throw new Error('usage: warning-process.ts <data directory>');

loadSqlite();
const store = await openSqliteEventStore({ directory, log: recordingLog() });
await store.append('a', 0, [{ type: 'session.reset' }]);
process.emitWarning('Teleportation is an experimental feature', 'ExperimentalWarning');
await store[Symbol.asyncDispose]();
