/**
 * The disk had no space for an append, and nothing of it was stored. The message is for the operator.
 * This file imports nothing, because the worker thread of the log loads it, which must load no package.
 */
export class StorageFullError extends Error {
  override readonly name = 'StorageFullError';
}
