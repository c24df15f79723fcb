import { shorten } from '../../../core/shorten.ts';
import type { Logger } from '../../../ports/logger.ts';
import type { Mask } from '../failure/secret-mask.ts';
import { LineSplitter } from './line-splitter.ts';

const MAX_LINE_BYTES = 2_000;
const TAIL_LINES = 5;
const TAIL_LINE_CHARACTERS = 300;
const WINDOW_MS = 1_000;
const LINES_A_WINDOW = 50;

export interface StderrLogOptions {
  readonly log: Logger;
  /** Name of the server, for the log. */
  readonly server: string;
  readonly mask: Mask;
  /** Called with every line, without secrets. */
  readonly onLine: (line: string) => void;
}

/** Writes a server's stderr to the log, and keeps the last lines to explain a failure. */
export class StderrLog {
  readonly #options: StderrLogOptions;
  readonly #lines = new LineSplitter(MAX_LINE_BYTES, (line) => this.#note(line));
  #tail: string[] = [];
  #windowStart = 0;
  #linesInWindow = 0;

  constructor(options: StderrLogOptions) {
    this.#options = options;
  }

  push(chunk: Buffer): void {
    this.#lines.push(chunk);
  }

  end(): void {
    this.#lines.end();
    this.#reportDropped();
  }

  /** The last lines, joined; empty when there are none. */
  tail(): string {
    return this.#tail.join(' | ');
  }

  #note(raw: string): void {
    const { log, server, mask, onLine } = this.#options;
    const line = mask(raw).trim();
    if (line === '') return;
    onLine(line);
    this.#tail = [...this.#tail, shorten(line, TAIL_LINE_CHARACTERS)].slice(-TAIL_LINES);
    this.#openWindow();
    this.#linesInWindow += 1;
    if (this.#linesInWindow <= LINES_A_WINDOW) log.debug({ server, line }, 'tool server stderr');
  }

  #openWindow(): void {
    const now = performance.now();
    if (now - this.#windowStart < WINDOW_MS) return;
    this.#reportDropped();
    this.#windowStart = now;
    this.#linesInWindow = 0;
  }

  #reportDropped(): void {
    const { log, server } = this.#options;
    const dropped = this.#linesInWindow - LINES_A_WINDOW;
    if (dropped > 0) log.info({ server, dropped }, 'tool server stderr lines not logged');
  }
}
