import { StorageAwayError } from '../../core/log/storage-away.ts';
import { StorageFullError } from '../../core/log/storage-full.ts';

/** Errors of the network. */
const NETWORK: readonly string[] = [
  ...[
    'ECONNREFUSED',
    'ECONNRESET',
    'EPIPE',
    'ETIMEDOUT',
    'EHOSTUNREACH',
    'ENETUNREACH',
    'ENOTFOUND',
    'EAI_AGAIN',
  ],
  // The socket of a server on this machine.
  'ENOENT',
];
/** SQLSTATEs: it stops or starts, it has no connection left, it is a standby that takes no writes. */
const AWAY: readonly string[] = ['57P01', '57P02', '57P03', '53300', '25006'];
/** What the driver says without a code. */
const AWAY_TEXT =
  /^(Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client has encountered)/;
/** Another transaction was in the way: a serialization failure, a deadlock. */
const IN_THE_WAY: readonly string[] = ['40001', '40P01'];
const DISK_FULL = '53100';

/** Whether the database could not be reached. What was asked of it may have been done. */
export function isAway(error: unknown): boolean {
  const code = codeOf(error);
  if (code !== undefined) return NETWORK.includes(code) || AWAY.includes(code) || code.startsWith('08');
  return error instanceof Error && AWAY_TEXT.test(error.message);
}

/** Whether the same may succeed at once. */
export function isInTheWay(error: unknown): boolean {
  return IN_THE_WAY.includes(codeOf(error) ?? '');
}

/** The error as the service knows it. @param shown names the database. */
export function explained(error: unknown, shown: string, attempt: string): unknown {
  if (codeOf(error) === DISK_FULL)
    return new StorageFullError(`cannot ${attempt} PostgreSQL at ${shown}: its disk is full`, {
      cause: error,
    });
  if (!isAway(error)) return error;
  return new StorageAwayError(`cannot ${attempt} PostgreSQL at ${shown}: ${messageOf(error)}`, {
    cause: error,
  });
}

function codeOf(error: unknown): string | undefined {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

/** A refused connection to a name with several addresses has no message of its own. */
function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(messageOf).join('; ');
  return error instanceof Error ? error.message : String(error);
}
