import { type DestinationStream, type LoggerOptions, pino } from 'pino';
import { redactText } from '../config/export/redact.ts';
import type { LogLevel } from '../config/settings.ts';
import { ServiceError } from '../core/errors.ts';
import type { Log } from '../ports/log.ts';

/** Standard error: in stdio mode standard output belongs to the protocol. */
const STANDARD_ERROR = 2;
const MOST_CAUSES = 5;

/** Where the log goes; standard error is one. */
interface Output {
  readonly isTTY?: boolean;
  hasColors?(): boolean;
  write(text: string): unknown;
}

/** Lines for people where a terminal reads standard error, JSON lines for everything else. */
export async function createLogger(level: LogLevel, output: Output = process.stderr): Promise<Log> {
  if (output.isTTY !== true || level === 'silent') return createJsonLogger(level);
  const { prettyFactory } = await import('pino-pretty');
  const format = prettyFactory({ colorize: output.hasColors?.() ?? false, translateTime: 'SYS:HH:MM:ss' });
  // Formatted here and not by a stream of the package's own: nothing is lost when the process ends.
  return createJsonLogger(level, { write: (line) => void output.write(format(line)) });
}

/** JSON lines, without secrets of a known shape. Errors are reduced to what is safe to keep, because an SDK's error may carry whole requests. */
export function createJsonLogger(level: LogLevel, destination?: DestinationStream): Log {
  const hooks: LoggerOptions['hooks'] = {
    logMethod([fields, message], method) {
      method.apply(this, [redactFields(fields), redactText(String(message))]);
    },
  };
  const options = { level, base: null, serializers: { err: safeError }, hooks };
  return pino(options, destination ?? pino.destination({ dest: STANDARD_ERROR, sync: true }));
}

/** Errors are for the serializer; what is nested is made by the service itself. */
function redactFields(fields: unknown): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(Object(fields)).map(([name, value]) => [
      name,
      typeof value === 'string' ? redactText(value) : value,
    ]),
  );
}

function safeError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return redactText(String(error));
  const { name, message, stack, cause } = error;
  return {
    type: name,
    message: redactText(message),
    ...('code' in error && { code: redactText(String(error.code)) }),
    ...(error instanceof ServiceError && { details: error.details }),
    ...(stack !== undefined && { stack: redactText(stack) }),
    ...(cause !== undefined && depth < MOST_CAUSES && { cause: safeError(cause, depth + 1) }),
  };
}
