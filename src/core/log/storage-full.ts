/**
 * There was no space for what was to be recorded, and nothing of it was. The message is for the operator.
 * In a file without zod, for the thread of the log, which needs no more of the contract.
 */
export class StorageFullError extends Error {
  override readonly name = 'StorageFullError';
}
