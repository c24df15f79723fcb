import { writeSync } from 'node:fs';
import { openSqliteEventStore } from '../../../src/adapters/sqlite/log/sqlite-event-store.ts';
import { sqliteSnapshotStore } from '../../../src/adapters/sqlite/snapshots/sqlite-snapshot-store.ts';
import type { SessionEvent } from '../../../src/core/log/events.ts';
import type { AdoptedEvent } from '../../../src/ports/event-store.ts';
import { recordingLog } from '../telemetry/recording-log.ts';

/*
 * A process whose system calls are looked at: appends, erases and takes snapshots in the data directory given as its
 * argument, and prints what it has done as soon as it was told that it is done.
 */

const [directory] = process.argv.slice(2);
if (directory === undefined) throw new Error('usage: syncing-process.ts <data directory>');
const log = recordingLog();
const store = await openSqliteEventStore({ directory, log });

for (const seq of [1, 2, 3]) {
  await store.append('s', seq - 1, [said('short')]);
  print(`appended ${seq}`);
}
await Promise.all(['a', 'b', 'c'].map((sessionId) => store.append(sessionId, 0, [said('at once')])));
print('appended together');
await store.fork('s', 2, 'fork', [said('forked')]);
print('forked');
await store.adopt('imported', imported());
print('imported');
// More than a WAL may hold: it is moved into the database behind the answer, and the next append begins it anew.
await store.append('s', 3, [said('x'.repeat(5_000_000))]);
await store.append('s', 4, [said('short')]);
print('appended behind a full WAL');
await store.probe();
print('probed');
await store.erase('s');
print('erased');

const snapshots = sqliteSnapshotStore({ directory, log });
await snapshots.save('s', 1, parts());
print('saved');
await snapshots.erase('s');
print('forgotten');
await snapshots.save('s', 2, parts());
print('saved again');
process.kill(process.pid, 'SIGKILL');

function print(text: string): void {
  writeSync(1, `${text}\n`);
}

function said(content: string): SessionEvent {
  return { type: 'turn.completed', turnId: 't', content };
}

async function* imported(): AsyncGenerator<AdoptedEvent> {
  yield { time: 1, event: said('imported'), mark: { open: false } };
}

async function* parts(): AsyncGenerator<string> {
  yield 'a part of a conversation';
}
