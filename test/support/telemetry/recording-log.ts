import type { Logger } from '../../../src/ports/logger.ts';

export interface LogLine {
  readonly level: keyof Logger;
  readonly fields: Record<string, unknown>;
  readonly message: string;
}

export interface RecordingLog extends Logger {
  readonly lines: LogLine[];
}

/** A log that tests can look into. */
export function recordingLog(): RecordingLog {
  const lines: LogLine[] = [];
  const write = (level: keyof Logger) => (fields: Record<string, unknown>, message: string) => {
    lines.push({ level, fields, message });
  };
  return { lines, debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
}
