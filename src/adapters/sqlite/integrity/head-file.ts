import {
  closeSync,
  existsSync,
  fdatasyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { SessionId } from '../../../core/ids.ts';

/**
 * The high-water marks of the sessions, outside of the database. A flipped bit in the WAL makes SQLite drop
 * every commit from there on without a word; then this file says more than the database, and the loss is seen.
 *
 * One line an append, `<checksum> <seq> <session>`, written after the commit and without a sync: whatever the
 * file says was on disk before. After a power loss it may say less than the database, which is no
 * contradiction. A line that is torn or damaged does not count. Seq 0 means erased. Of several lines for one
 * session the last one holds. It begins anew when the WAL does.
 */
export class HeadFile implements Disposable {
  readonly #descriptor: number;
  /** Whether the file may end in the middle of a line. */
  #torn = true;

  constructor(directory: string) {
    this.#descriptor = openSync(headFilePath(directory), 'a', 0o600);
  }

  record(heads: ReadonlyMap<SessionId, number>): void {
    let lines = this.#torn ? '\n' : '';
    for (const [sessionId, seq] of heads) lines += `${headLine(sessionId, seq)}\n`;
    this.#torn = true;
    const bytes = Buffer.from(lines);
    const written = writeSync(this.#descriptor, bytes);
    if (written < bytes.length) throw new Error(`only ${written} of ${bytes.length} bytes were written`);
    this.#torn = false;
  }

  sync(): void {
    fdatasyncSync(this.#descriptor);
  }

  /** Forgets all marks: the database file itself has what they stand for. */
  reset(): void {
    ftruncateSync(this.#descriptor);
    this.#torn = false;
  }

  [Symbol.dispose](): void {
    closeSync(this.#descriptor);
  }
}

export interface RecordedHeads {
  readonly heads: ReadonlyMap<SessionId, number>;
  /** Lines that cannot be read, apart from the last one, which a crash may tear. */
  readonly unreadable: number;
}

/** Undefined when there is no such file. */
export function readHeads(directory: string): RecordedHeads | undefined {
  const file = headFilePath(directory);
  if (!existsSync(file)) return undefined;
  const lines = readFileSync(file, 'latin1').split('\n');
  const heads = new Map<SessionId, number>();
  let unreadable = 0;
  for (const [index, line] of lines.entries()) {
    const [, seq, sessionId] = line.split(' ');
    if (seq !== undefined && sessionId !== undefined && line === headLine(sessionId, Number(seq))) {
      heads.set(sessionId, Number(seq));
    } else if (line !== '' && index < lines.length - 1) {
      unreadable += 1;
    }
  }
  return { heads, unreadable };
}

export function headFilePath(directory: string): string {
  return join(directory, 'events.heads');
}

function headLine(sessionId: SessionId, seq: number): string {
  const text = `${seq} ${sessionId}`;
  return `${crc32(text).toString(16).padStart(8, '0')} ${text}`;
}
