import { writeSync } from 'node:fs';
import { openSqliteEventStore } from '../../../src/adapters/sqlite/log/sqlite-event-store.ts';
import { messageOf } from '../log/event-log-damage.ts';
import { recordingLog } from '../telemetry/recording-log.ts';

/*
 * A process that may write only so many bytes to a file: appends to one session of the data directory given as its
 * argument until that fails, then probes until that fails too; prints the last seq, how much of it can still be read, and why
 * both failed.
 */

const [directory] = process.argv.slice(2);
if (directory === undefined) throw new Error('usage: filling-process.ts <data directory>');
// Without a listener the signal would end the process; with one, the write fails.
process.on('SIGXFSZ', () => undefined);

const store = await openSqliteEventStore({ directory, log: recordingLog() });
let seq = 0;
let failure = '';
while (failure === '') {
  const event = { type: 'turn.completed', turnId: 't', content: 'x'.repeat(20_000) } as const;
  await store.append('s', seq, [event]).then(
    () => {
      seq += 1;
    },
    (error: unknown) => {
      failure = messageOf(error);
    },
  );
}
const { length } = await store.read('s', 0);
let refusal = '';
while (refusal === '') {
  await store.probe().catch((error: unknown) => {
    refusal = messageOf(error);
  });
}
writeSync(1, `${seq} ${length} ${failure} and ${refusal}\n`);
process.kill(process.pid, 'SIGKILL');
