export interface StorageAwayOptions extends ErrorOptions {
  /** Whether the database may have stored what it was asked to store. */
  readonly mayBeStored?: boolean;
}

/**
 * The database of the log could not be reached. After an append that may be stored, load the session again. The message
 * is for the operator.
 */
export class StorageAwayError extends Error {
  override readonly name = 'StorageAwayError';
  readonly mayBeStored: boolean;

  constructor(message: string, { mayBeStored = false, ...options }: StorageAwayOptions = {}) {
    super(message, options);
    this.mayBeStored = mayBeStored;
  }
}
