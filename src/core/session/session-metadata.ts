import { z } from 'zod';

/** What a client wants to find again with the session. Nothing in the service reads it. */
export const SessionMetadata = z.record(z.string(), z.string());
export type SessionMetadata = z.infer<typeof SessionMetadata>;

export function isSameMetadata(one: SessionMetadata, other: SessionMetadata): boolean {
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && one[name] === other[name])
  );
}
