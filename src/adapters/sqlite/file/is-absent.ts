import { statSync } from 'node:fs';

/** A file of no bytes holds as little as none. */
export function isAbsent(file: string): boolean {
  return (statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0;
}
