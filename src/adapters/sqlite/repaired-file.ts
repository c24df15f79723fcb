import { join } from 'node:path';

/** The log as a repair has written it, complete, before it takes the place of the damaged one. */
export function repairedFile(directory: string): string {
  return join(directory, 'events.repaired');
}
