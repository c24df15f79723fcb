export interface StorageAwayOptions extends ErrorOptions {
  /** Whether the database may have stored what it was asked to store. */
  readonly mayBeStored?: boolean;
  /** Whether the database was only asked for something. */
  readonly isReading?: boolean;
}

/**
 * The database of the log could not be reached. After an append that may be stored, load the session again. The message
 * is for the operator.
 */
export class StorageAwayError extends Error {
  override readonly name = 'StorageAwayError';
  readonly mayBeStored: boolean;
  readonly isReading: boolean;

  constructor(
    message: string,
    { mayBeStored = false, isReading = false, ...options }: StorageAwayOptions = {},
  ) {
    super(message, options);
    this.mayBeStored = mayBeStored;
    this.isReading = isReading;
  }
}

export function mayBeStored(error: unknown): error is StorageAwayError {
  return error instanceof StorageAwayError && error.mayBeStored;
}
