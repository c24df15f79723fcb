import type { ServerLogLine, ServerNote } from '../../core/tool-server/server-log.ts';

/** Each line has at most 2,000 characters. */
const MAX_LOG_LINES = 200;

/** The last lines of one tool server, in memory. They outlive its connections. */
export class ServerLog {
  readonly #lines: ServerLogLine[] = [];
  #seq = 0;

  add(note: ServerNote): void {
    this.#seq += 1;
    this.#lines.push({ seq: this.#seq, time: new Date().toISOString(), ...note });
    if (this.#lines.length > MAX_LOG_LINES) this.#lines.shift();
  }

  /** The kept lines with a greater number. A number that no line has yet is of a log before a restart: then all of them. */
  after(seq: number): ServerLogLine[] {
    return seq > this.#seq ? [...this.#lines] : this.#lines.filter((line) => line.seq > seq);
  }
}
