import { type DestinationStream, pino } from 'pino';
import { ServiceError } from '../contract/errors.ts';
import type { Log } from '../ports/log.ts';
import { redactText } from './config/redact.ts';
import type { LogLevel } from './settings.ts';

/** Standard error: in stdio mode standard output belongs to the protocol. */
const STANDARD_ERROR = 2;
const MOST_CAUSES = 5;

/** JSON lines. Errors are reduced to what is safe to keep, because an SDK's error may carry whole requests. */
export function createLog(level: LogLevel, destination?: DestinationStream): Log {
  const options = { level, base: null, serializers: { err: safeError } };
  return pino(options, destination ?? pino.destination({ dest: STANDARD_ERROR, sync: true }));
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
