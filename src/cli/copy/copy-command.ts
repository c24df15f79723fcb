import type { Command } from 'commander';
import type { LogSource } from '../log/log-place.ts';

export interface CopyOptions {
  readonly from: LogSource;
  readonly to: LogSource;
}

/** The command that moves a log between a folder and a database. */
export function addCopy(program: Command, choose: (options: CopyOptions) => void): void {
  program
    .command('copy')
    .description(
      'Copies an event log into another place: from a folder into a PostgreSQL database, or back. No service may use either. Every event is read again and compared. What was copied before is compared only, so an interrupted copy can be repeated.',
    )
    .requiredOption('--from <place>', 'a folder, or postgres://…')
    .requiredOption('--to <place>', 'the same; its own log may have other sessions')
    .action(({ from, to }: { from: string; to: string }) =>
      choose({ from: sourceAt(from), to: sourceAt(to) }),
    );
}

function sourceAt(place: string): LogSource {
  return place.includes('://') ? { dataDir: '', store: place } : { dataDir: place };
}
