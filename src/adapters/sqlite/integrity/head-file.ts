import {
  closeSync,
  existsSync,
  fdatasyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  writeSync,
} from 'node:fs';
import { crc32 } from 'node:zlib';
import type { SessionId } from '../../../core/ids.ts';
import { headFilePath } from '../file/data-directory.ts';

/**
 * The high-water mark of each session: its last committed seq, kept outside of the database. A flipped bit in the WAL
 * makes SQLite silently drop every commit from there on. The marks are then ahead of the database, which reveals the
 * loss.
 *
 * Each append writes a line `<checksum> <seq> <session>` after the commit, without a sync. So a mark is never ahead of
 * what was on disk; after a power loss it may be behind. Torn or damaged lines are ignored. Seq 0 means erased. The
 * last line of a session counts. The file is emptied when the WAL restarts.
 */
export class HeadFile implements Disposable {
  readonly #descriptor: number;
  /** True while the file may end in the middle of a line. */
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

  /** Removes all marks. Call it when the database file itself contains the events that they protect. */
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
  /** How many lines are damaged. The last line is not counted: a crash may tear it. */
  readonly unreadable: number;
}

/** Undefined when there is no such file. */
export function readHeads(directory: string): RecordedHeads | undefined {
  const file = headFilePath(directory);
  if (!existsSync(file)) return undefined;
  const lines = readFileSync(file, 'utf8').split('\n');
  const heads = new Map<SessionId, number>();
  let unreadable = 0;
  for (const [index, line] of lines.entries()) {
    const [, seq, ...words] = line.split(' ');
    // The id of a stream may contain spaces.
    const sessionId = words.join(' ');
    if (seq !== undefined && sessionId !== '' && line === headLine(sessionId, Number(seq))) {
      heads.set(sessionId, Number(seq));
    } else if (line !== '' && index < lines.length - 1) {
      unreadable += 1;
    }
  }
  return { heads, unreadable };
}

function headLine(sessionId: SessionId, seq: number): string {
  const text = `${seq} ${sessionId}`;
  return `${crc32(text).toString(16).padStart(8, '0')} ${text}`;
}
