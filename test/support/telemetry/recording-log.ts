import type { Log } from '../../../src/ports/log.ts';

export interface LogLine {
  readonly level: keyof Log;
  readonly fields: Record<string, unknown>;
  readonly message: string;
}

export interface RecordingLog extends Log {
  readonly lines: LogLine[];
}

/** A log that tests can look into. */
export function recordingLog(): RecordingLog {
  const lines: LogLine[] = [];
  const write = (level: keyof Log) => (fields: Record<string, unknown>, message: string) => {
    lines.push({ level, fields, message });
  };
  return { lines, debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
}
