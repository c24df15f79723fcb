type LogMethod = (fields: Record<string, unknown>, message: string) => void;

/** The log for the operator. A pino logger fits. Fields contain no secrets and no message content. */
export interface Logger {
  debug: LogMethod;
  info: LogMethod;
  warn: LogMethod;
  error: LogMethod;
  /** Left out by a log that takes everything. */
  isLevelEnabled?(level: 'debug'): boolean;
}
