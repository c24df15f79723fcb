import { rmSync, statSync } from 'node:fs';
import { backupFiles } from '../file/data-directory.ts';

/** Whoever has asked for a copy moves it at once. */
const FETCHED_AFTER_MS = 60_000;

/** Removes copies of the log that are complete for so long that nobody will fetch them. Call it while none is being made. */
export function removeUnfetched(directory: string): void {
  const now = Date.now();
  for (const copy of backupFiles(directory)) {
    const { mtimeMs } = statSync(copy, { throwIfNoEntry: false }) ?? { mtimeMs: now };
    // A copy of the future was made before the clock was set back.
    if (Math.abs(now - mtimeMs) > FETCHED_AFTER_MS) rmSync(copy, { force: true });
  }
}
