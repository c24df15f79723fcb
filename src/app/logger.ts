import { type DestinationStream, type LoggerOptions, pino } from 'pino';
import { redactText } from '../config/export/redact.ts';
import type { LogLevel } from '../config/settings.ts';
import { ServiceError } from '../core/errors.ts';
import type { Logger } from '../ports/logger.ts';

/** File descriptor. In stdio mode standard output belongs to the protocol. */
const STANDARD_ERROR = 2;
const MAX_CAUSES = 5;

/** A destination of the log, such as `process.stderr`. */
interface Output {
  readonly isTTY?: boolean;
  hasColors?(): boolean;
  on?(event: 'error', listener: () => void): unknown;
  write(text: string): unknown;
}

/** A logger whose lines can be given further fields. */
export interface FieldLogger extends Logger {
  setBindings(fields: Readonly<Record<string, unknown>>): void;
}

/** Logs readable lines if the output is a terminal, otherwise JSON lines. */
export async function createLogger(level: LogLevel, output: Output = process.stderr): Promise<FieldLogger> {
  if (output.isTTY !== true || level === 'silent') return createJsonLogger(level);
  output.on?.('error', goOn);
  const { prettyFactory } = await import('pino-pretty');
  const format = prettyFactory({ colorize: output.hasColors?.() ?? false, translateTime: 'SYS:HH:MM:ss' });
  // Formats synchronously: the package's own stream would lose lines when the process ends.
  return createJsonLogger(level, { write: (line) => void output.write(format(line)) });
}

/**
 * Logs JSON lines without secrets of a known shape. Errors are reduced to safe fields, because an SDK's error may
 * hold a whole request.
 */
export function createJsonLogger(level: LogLevel, destination?: DestinationStream): FieldLogger {
  const hooks: LoggerOptions['hooks'] = {
    logMethod([fields, message], method) {
      method.apply(this, [redactFields(fields), redactText(String(message))]);
    },
  };
  const options = { level, base: null, serializers: { err: safeError }, hooks };
  return pino(options, destination ?? standardError());
}

function standardError(): DestinationStream {
  return pino.destination({ dest: STANDARD_ERROR, sync: true }).on('error', goOn);
}

/** Ignores an error, such as that of a closed terminal. A service whose log nobody can read must still finish its turns. */
function goOn(): void {
  // There is no place left to report it.
}

/** Redacts strings only: the serializer handles errors, and nested values come from the service itself. */
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
    ...(cause !== undefined && depth < MAX_CAUSES && { cause: safeError(cause, depth + 1) }),
  };
}
