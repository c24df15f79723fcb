/** A copy of the log as it was at one moment. */
export interface LogCopy {
  /** Absolute path, on the machine of the service. It is removed after a while. */
  readonly file: string;
  readonly bytes: number;
}

/** Copies the log while it is in use. Appends and reads go on meanwhile. */
export interface LogBackup {
  backup(): Promise<LogCopy>;
}
