import type { ServerLogLine } from '../../core/tool-server/server-log.ts';

/** As many as the service keeps. */
const MAX_LINES = 200;

/** The known lines, followed by those of the next answer. */
export function joined(
  known: readonly ServerLogLine[],
  next: readonly ServerLogLine[],
): readonly ServerLogLine[] {
  const [last, first] = [known.at(-1)?.seq ?? 0, next[0]?.seq ?? Infinity];
  // After a restart, the service counts the lines from the start.
  return first <= last ? next : [...known, ...next].slice(-MAX_LINES);
}
