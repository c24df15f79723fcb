import { EventEmitter, once } from 'node:events';
import type { Logger } from '../../../../src/ports/logger.ts';

export interface LogLine {
  readonly level: keyof Logger;
  readonly fields: Record<string, unknown>;
  readonly message: string;
}

/** A log that keeps its lines, and can be waited for. */
export class RecordingLog implements Logger {
  readonly lines: LogLine[] = [];
  readonly #changes = new EventEmitter();

  debug = this.#recorder('debug');
  info = this.#recorder('info');
  warn = this.#recorder('warn');
  error = this.#recorder('error');

  /** The first value the function finds in a line, now or later. */
  async find<T>(read: (line: LogLine) => T | undefined): Promise<T> {
    for (;;) {
      for (const line of this.lines) {
        const found = read(line);
        if (found !== undefined) return found;
      }
      await once(this.#changes, 'line');
    }
  }

  #recorder(level: keyof Logger) {
    return (fields: Record<string, unknown>, message: string) => {
      this.lines.push({ level, fields, message });
      this.#changes.emit('line');
    };
  }
}
