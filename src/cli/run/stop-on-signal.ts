import { constants } from 'node:os';
import type { Logger } from '../../ports/logger.ts';

/**
 * Closes at the first SIGTERM, SIGINT or SIGHUP and exits with 0; a second one ends the process at once.
 *
 * @param reload what SIGHUP means instead, unless the terminal of the service is gone. It never counts as the second signal.
 * @returns a function that does the same without a signal.
 */
export function stopOnSignal(
  log: Logger,
  close: () => Promise<void>,
  reload?: () => Promise<void>,
): () => Promise<void> {
  let closing: Promise<void> | null = null;
  const stop = (): Promise<void> => {
    closing ??= close().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ err: error }, 'the service did not stop cleanly');
        process.exit(1);
      },
    );
    return closing;
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (signal === 'SIGHUP' && reload && !process.stdin.isTTY) {
        if (closing) log.info({ signal }, 'the agents are not reloaded: the service is stopping');
        else void reload();
        return;
      }
      if (closing) process.exit(128 + constants.signals[signal]);
      log.info({ signal }, 'stopping: running turns may finish; a second signal ends the service at once');
      void stop();
    });
  }
  return stop;
}
