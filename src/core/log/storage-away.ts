/**
 * The database of the log could not be reached. Of an append it is not known whether it was stored: load the session
 * again. The message is for the operator.
 */
export class StorageAwayError extends Error {
  override readonly name = 'StorageAwayError';
}
