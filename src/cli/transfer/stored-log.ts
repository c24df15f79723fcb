import { LOG_IN_USE } from '../../adapters/postgres/log-in-use.ts';
import { DIRECTORY_IN_USE, requireEventLog } from '../../adapters/sqlite/file/data-directory.ts';
import { createJsonLogger } from '../../app/logger.ts';
import { readPackageVersion } from '../../app/package-root.ts';
import type { SessionId } from '../../core/ids.ts';
import type { Envelope } from '../../core/log/envelope.ts';
import type { EventStore } from '../../ports/event-store.ts';
import { ofSession } from '../../runtime/sessions/journal.ts';
import type { LogSource } from '../log/log-place.ts';

const IN_USE: readonly unknown[] = [DIRECTORY_IN_USE, LOG_IN_USE];

/** `create` makes a missing log, the others refuse it. `read` appends nothing. */
export type LogUse = 'read' | 'change' | 'create';

interface OpenLog {
  readonly store: EventStore;
  /** Rejects if a service has taken the log over meanwhile, because this process was paused: what was read is not all. */
  readonly requireUnused?: () => Promise<void>;
}

/**
 * Opens a log until `work` is done. Throws if a service uses it before that, unless it is read in a database.
 * @param option that named the folder, of a command that cannot ask a service instead.
 */
export async function withEventStore<T>(
  source: LogSource,
  use: LogUse,
  work: (store: EventStore) => Promise<T>,
  option?: string,
): Promise<T> {
  const { dataDir, store: url } = source;
  const opening = url === undefined ? openFolder(dataDir, use, option) : openDatabase(url, use);
  const { store, requireUnused } = await opening.catch((error: unknown) => {
    throw use === 'read' && option === undefined ? adviseUrl(error) : error;
  });
  try {
    const result = await work(store);
    await requireUnused?.();
    return result;
  } finally {
    await store[Symbol.asyncDispose]();
  }
}

async function openFolder(directory: string, use: LogUse, option?: string): Promise<OpenLog> {
  requireFolderName(directory, option);
  if (use !== 'create') requireEventLog(directory, option);
  const { openSqliteEventStore } = await import('../../adapters/sqlite/log/sqlite-event-store.ts');
  const store = await openSqliteEventStore({
    directory,
    log: createJsonLogger('warn'),
    use: use === 'read' ? 'read' : 'write',
  });
  return { store };
}

async function openDatabase(url: string, use: LogUse): Promise<OpenLog> {
  const { openPostgres, readPostgres } = await import('../../adapters/postgres/open-postgres.ts');
  const log = createJsonLogger('warn');
  if (use === 'read') return { store: await readPostgres(url, log) };
  const identity = { name: `a command, process ${process.pid}`, version: readPackageVersion() };
  const opened = await openPostgres(url, { identity, log, makesTables: use === 'create' });
  return { store: opened.store, requireUnused: opened.requireLease };
}

/** Whether a log was not opened because a service uses it. */
export function isLogInUse(error: unknown): error is Error & { readonly code: unknown } {
  return error instanceof Error && 'code' in error && IN_USE.includes(error.code);
}

/** Adds to the error about a log in use that the service can be asked instead. */
export function adviseUrl(error: unknown): unknown {
  if (!isLogInUse(error)) return error;
  const instead = error.code === LOG_IN_USE ? '--store' : '--data-dir';
  const advice = `or ask the service: --url with its address, instead of ${instead}`;
  return new Error(`${error.message}, ${advice}`, { cause: error });
}

/** Refuses `:memory:`, because the command needs a log on disk. */
export function requireFolderName(dataDir: string, option = '--data-dir'): void {
  if (dataDir === ':memory:' || dataDir.trim() === '')
    throw new Error(`${option}: found ${JSON.stringify(dataDir)}; expected a folder`);
}

/** The events of a session, in order; throws when there is no such session. */
export async function* readSession(
  store: EventStore,
  sessionId: SessionId,
): AsyncGenerator<Envelope, void, void> {
  let isThere = false;
  for await (const page of store.pages(sessionId, 0)) {
    isThere = true;
    yield* ofSession(page);
  }
  if (!isThere) throw new Error(`there is no session ${sessionId}`);
}
