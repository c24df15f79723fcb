import { resolve } from 'node:path';
import type { EventStore } from '../../ports/event-store.ts';
import type { LogSource } from '../log/log-place.ts';
import { isLogInUse, type LogUse, withEventStore } from '../transfer/stored-log.ts';
import type { CopyOptions } from './copy-command.ts';
import { copyLog } from './copy-log.ts';

/** Copies a log. @returns what to print. */
export async function runCopy({ from, to }: CopyOptions): Promise<string> {
  if (from.store === to.store && (from.store !== undefined || resolve(from.dataDir) === resolve(to.dataDir)))
    throw new Error('--to: expected another place than --from');
  // No service may write the source meanwhile. A folder is locked also by a reader, which keeps its format.
  const use = from.store === undefined ? 'read' : 'change';
  const { streams, events, before, hasSecrets } = await withLog('--from', from, use, (source) =>
    withLog('--to', to, 'create', (target) => copyLog(source, target)),
  );
  const known = before > 0 ? `, ${before} of them before` : '';
  const secrets = hasSecrets
    ? 'Some are encrypted: give the service AGENT_SERVICE_SECRET_KEY, or the file secret.key of the old folder.\n'
    : '';
  return `copied ${streams} streams with ${events} events${known}; each was read again and is the same\n${secrets}`;
}

/** Errors about a log name options of other commands. */
function withLog<T>(
  option: '--from' | '--to',
  place: LogSource,
  use: LogUse,
  work: (store: EventStore) => Promise<T>,
): Promise<T> {
  return withEventStore(place, use, work, option).catch((error: unknown) => {
    if (!isLogInUse(error)) throw error instanceof Error ? withOption(error, option) : error;
    const log = place.store === undefined ? place.dataDir : 'the database';
    throw new Error(`${option}: ${log} is in use by a service; stop it first`, { cause: error });
  });
}

function withOption(error: Error, option: string): Error {
  const message = error.message.replace('with --data-dir', `with ${option}`);
  return message === error.message ? error : new Error(message, { cause: error });
}
