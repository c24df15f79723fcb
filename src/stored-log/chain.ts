import type { SessionId } from '../core/ids.ts';
import { checksum } from './checksum.ts';

/** A stored event, as a link in the hash chain of its session. */
export interface Link {
  readonly seq: number;
  readonly time: number;
  readonly type: string;
  readonly data: string;
}

/** The previous hash of a session's first event. */
export const chainStart = '';

/**
 * The hash of an event: over all columns of its row and the hash of the event before it. So the hash of the last event
 * covers the whole session. Only `data`, the last field, can contain a line break.
 */
export function chainHash(previous: string, sessionId: SessionId, { seq, time, type, data }: Link): string {
  return checksum(`${previous}\n${sessionId}\n${seq}\n${time}\n${type}\n${data}`);
}
