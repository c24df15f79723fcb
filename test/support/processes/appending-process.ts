import { once } from 'node:events';
import { writeSync } from 'node:fs';
import { openSqliteEventStore } from '../../../src/adapters/sqlite/log/sqlite-event-store.ts';
import { recordingLog } from '../telemetry/recording-log.ts';

/*
 * A process to be killed: appends to four sessions of the data directory given as its argument without
 * ever stopping, and prints `<session> <seq>` for each append that was acknowledged. Starts on the first
 * byte of stdin. With `open-twice` it first tries to open the directory once more, and is refused.
 */

const [directory, mode] = process.argv.slice(2);
if (directory === undefined) throw new Error('usage: appending-process.ts <data directory> [open-twice]');

const store = await openSqliteEventStore({ directory, log: recordingLog() });
if (mode === 'open-twice') {
  const second = openSqliteEventStore({ directory, log: recordingLog() });
  await second.then(
    () => Promise.reject(new Error('opened twice')),
    () => undefined,
  );
}
writeSync(1, 'opened\n');
await once(process.stdin, 'data');
await Promise.all(['a', 'b', 'c', 'd'].map(appendForever));

async function appendForever(sessionId: string): Promise<void> {
  for (let seq = 0; ; seq += 1) {
    await store.append(sessionId, seq, [{ type: 'turn.started', turnId: `${sessionId}-${seq + 1}` }]);
    writeSync(1, `${sessionId} ${seq + 1}\n`);
  }
}
