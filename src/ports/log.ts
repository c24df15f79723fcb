type LogMethod = (fields: Record<string, unknown>, message: string) => void;

/** What the service tells its operator. A pino logger is one. Fields hold no secret and no message content. */
export interface Log {
  debug: LogMethod;
  info: LogMethod;
  warn: LogMethod;
  error: LogMethod;
}
