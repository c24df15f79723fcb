import { hash } from 'node:crypto';
import type { SessionId } from '../../../core/ids.ts';

/** An event as the database has it: a link in the chain of its session. */
export interface Link {
  readonly seq: number;
  readonly time: number;
  readonly type: string;
  readonly data: string;
}

/** What the first event of a session is chained to. */
export const chainStart = '';

/** 22 characters of base64 are 132 bits: enough that no damage and no mixed-up row goes unnoticed. */
const hashCharacters = 22;

/**
 * The hash of an event over all that its row says and over the hash of the event before it, so that the
 * hash of the last one vouches for the whole session. Nothing before `data` can contain a line break.
 */
export function chainHash(previous: string, sessionId: SessionId, { seq, time, type, data }: Link): string {
  const text = `${previous}\n${sessionId}\n${seq}\n${time}\n${type}\n${data}`;
  return hash('sha256', text, 'base64').slice(0, hashCharacters);
}
