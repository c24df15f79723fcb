import { ServiceError } from '../../core/errors.ts';
import type { LogBackup, LogCopy } from '../../ports/log-backup.ts';

/** One copy of the log at a time, because each needs as much space as the log. */
export class LogBackups {
  readonly #log: LogBackup | undefined;
  #isRunning = false;

  /** @param log undefined if the log is not on a disk. */
  constructor(log: LogBackup | undefined) {
    this.#log = log;
  }

  async backup(): Promise<LogCopy> {
    if (this.#log === undefined) throw inMemory();
    if (this.#isRunning) throw alreadyRunning();
    this.#isRunning = true;
    try {
      return await this.#log.backup();
    } finally {
      this.#isRunning = false;
    }
  }
}

function inMemory(): ServiceError {
  return new ServiceError('INVALID_REQUEST', 'There is nothing to back up.', {
    issue: 'the log of the service is in no file',
    suggestion: 'Start it with a data directory. A database is backed up with its own tools.',
  });
}

function alreadyRunning(): ServiceError {
  return new ServiceError('SERVICE_UNAVAILABLE', 'Another backup is being made.', {
    reason: 'another backup is being made',
    retryAfter: 5,
  });
}
