import { DIRECTORY_IN_USE, requireEventLog } from '../../adapters/sqlite/file/data-directory.ts';
import { createJsonLogger } from '../../app/logger.ts';
import type { SessionId } from '../../core/ids.ts';
import type { Envelope } from '../../core/log/envelope.ts';
import type { EventStore } from '../../ports/event-store.ts';
import { ofSession } from '../../runtime/sessions/journal.ts';

/**
 * Opens the log of a data directory until `work` is done. Throws while a service uses it.
 *
 * @param mode `write` creates a missing log, `read` refuses it.
 */
export async function withEventStore<T>(
  dataDir: string,
  mode: 'read' | 'write',
  work: (store: EventStore) => Promise<T>,
): Promise<T> {
  requireFolderName(dataDir);
  if (mode === 'read') requireEventLog(dataDir);
  const { openSqliteEventStore } = await import('../../adapters/sqlite/log/sqlite-event-store.ts');
  const opening = openSqliteEventStore({ directory: dataDir, log: createJsonLogger('warn') });
  const store = await opening.catch((error: unknown) => {
    throw mode === 'read' ? adviseUrl(error) : error;
  });
  try {
    return await work(store);
  } finally {
    await store[Symbol.asyncDispose]();
  }
}

/** Adds to the error about a directory in use that the service can be asked instead. */
export function adviseUrl(error: unknown): unknown {
  if (!(error instanceof Error) || !('code' in error) || error.code !== DIRECTORY_IN_USE) return error;
  return new Error(`${error.message}, or ask the service: --url with its address, instead of --data-dir`, {
    cause: error,
  });
}

/** Refuses `:memory:`, because the command needs a log on disk. */
export function requireFolderName(dataDir: string): void {
  if (dataDir === ':memory:' || dataDir.trim() === '')
    throw new Error(`--data-dir: found ${JSON.stringify(dataDir)}; expected a folder`);
}

const pageEvents = 1_000;

/** The events of a session, in order; throws when there is no such session. */
export async function* readSession(
  store: EventStore,
  sessionId: SessionId,
): AsyncGenerator<Envelope, void, void> {
  let page: Envelope[];
  let after = 0;
  do {
    page = ofSession(await store.read(sessionId, after, pageEvents));
    if (page.length === 0 && after === 0) throw new Error(`there is no session ${sessionId}`);
    yield* page;
    after += page.length;
  } while (page.length === pageEvents);
}
