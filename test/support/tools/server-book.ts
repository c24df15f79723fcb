import { memoryKeys } from '../../../src/adapters/secret-key/key-ring.ts';
import { sealedBox } from '../../../src/adapters/secret-key/sealed-box.ts';
import type { EventStore } from '../../../src/ports/event-store.ts';
import type { Logger } from '../../../src/ports/logger.ts';
import type { SecretBox } from '../../../src/ports/secret-box.ts';
import { ServerBook } from '../../../src/runtime/tools/server-book.ts';
import { silentLog } from '../service/running-service.ts';

/** A book whose key is of this process, or that of `box`. */
export function serverBook(
  store: EventStore,
  box: SecretBox = sealedBox(memoryKeys()),
  log: Logger = silentLog,
): ServerBook {
  return new ServerBook(store, box, log);
}
