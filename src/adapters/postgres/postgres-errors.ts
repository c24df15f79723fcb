import { StorageAwayError } from '../../core/log/storage-away.ts';
import { StorageFullError } from '../../core/log/storage-full.ts';
import { StoreClosedError } from '../../core/log/store-closed.ts';
import { messageOf } from '../../core/thrown.ts';

/** Errors of the network. */
const NETWORK: readonly string[] = [
  ...[
    'ECONNREFUSED',
    'ECONNRESET',
    'EPIPE',
    'ETIMEDOUT',
    'EHOSTUNREACH',
    'ENETUNREACH',
    'ENETDOWN',
    'EHOSTDOWN',
    'ECONNABORTED',
    'EADDRNOTAVAIL',
    'ENOTFOUND',
    'EAI_AGAIN',
  ],
  // TLS, where something on the way cuts or mangles it.
  'EPROTO',
  // This process has no socket left.
  'EMFILE',
  // The socket of a server on this machine.
  'ENOENT',
];
/** What Node says of TLS that fails. */
const TLS = /^ERR_SSL_/;
/** SQLSTATEs: the database stops, or has given up a connection that was idle or whose transaction took too long. */
const LOST: readonly string[] = ['57P01', '57P02', '57P05', '25P03', '25P04'];
/** The database takes no writes: it is a standby, or was made read-only. */
const READ_ONLY = '25006';
/**
 * The database refuses this for now: it starts, it has no connection, no memory or nothing else left, it cannot use its
 * files, it takes no writes, it is not there, the user may not do this. Class 28: the user is not let in.
 */
const REFUSING: readonly string[] = [
  ...['57P03', '53000', '53200', '53300', '53400', '58030'],
  ...[READ_ONLY, '3D000', '42501'],
];
const NOT_LET_IN = '28';
/** What Node says of the certificate of a server. */
const CERTIFICATE = /^(ERR_TLS_|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_)/;
/** What the driver says without a code. */
const LOST_TEXT =
  /^(Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client has encountered|There was an error establishing an SSL connection)/;
/** Another transaction was in the way: a serialization failure, a deadlock, a lock; or somebody has cancelled the statement. */
const IN_THE_WAY: readonly string[] = ['40001', '40P01', '55P03', '57014'];
const DISK_FULL = '53100';

/** Whether the database cannot be used for now. */
export function isAway(error: unknown): boolean {
  return isLost(error) || isRefused(error);
}

/** Whether the connection was lost. What was asked for may have been done. */
export function isLost(error: unknown): boolean {
  const code = codeOf(error);
  if (code !== undefined)
    return NETWORK.includes(code) || TLS.test(code) || LOST.includes(code) || code.startsWith('08');
  return error instanceof Error && LOST_TEXT.test(error.message);
}

/** Whether the connection said nothing any more. */
export function isSilence(error: unknown): boolean {
  if (codeOf(error) === 'ETIMEDOUT') return true;
  return error instanceof Error && error.message === 'Query read timeout';
}

/** Whether the database takes no writes, and perhaps answers readers. */
export function isReadOnly(error: unknown): boolean {
  return codeOf(error) === READ_ONLY;
}

function isRefused(error: unknown): boolean {
  const code = codeOf(error) ?? '';
  return REFUSING.includes(code) || code.startsWith(NOT_LET_IN) || CERTIFICATE.test(code);
}

/** What `insist` and `once` are told of work that only reads. */
export const READING = 'read';

/** Whether the same may succeed at once. */
export function isInTheWay(error: unknown): boolean {
  return IN_THE_WAY.includes(codeOf(error) ?? '');
}

/** The error as the service knows it. @param shown names the database. */
export function explained(error: unknown, shown: string, attempt: string): unknown {
  if (isOfEndedPool(error)) return new StoreClosedError({ cause: error });
  if (codeOf(error) === DISK_FULL)
    return new StorageFullError(`cannot ${attempt} PostgreSQL at ${shown}: its disk is full`, {
      cause: error,
    });
  if (!isAway(error) && !isInTheWay(error)) return error;
  return new StorageAwayError(`cannot ${attempt} PostgreSQL at ${shown}: ${reasonOf(error)}`, {
    cause: error,
    isReading: attempt === READING,
  });
}

/** The error of a service that cannot start. Errors of the service itself say what is wrong. */
export function notOpened(error: unknown, shown: string): unknown {
  const isOfDriver = codeOf(error) !== undefined || isLost(error) || NO_TLS.test(reasonOf(error));
  if (!isOfDriver) return error;
  const isCertificate = CERTIFICATE.test(codeOf(error) ?? '');
  const hint = isCertificate
    ? 'sslrootcert in the address of the store names the certificate of its authority'
    : 'check the address of the store';
  return new StorageAwayError(`cannot open PostgreSQL at ${shown}: ${reasonOf(error)}; ${hint}`, {
    cause: error,
  });
}

/** Nothing was asked. */
function isOfEndedPool(error: unknown): boolean {
  return reasonOf(error) === 'Cannot use a pool after calling end on the pool';
}

const NO_TLS = /does not support SSL/;

function codeOf(error: unknown): string | undefined {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

/** A refused connection to a name with several addresses has no message of its own. */
function reasonOf(error: unknown): string {
  return error instanceof AggregateError ? error.errors.map(reasonOf).join('; ') : messageOf(error);
}
