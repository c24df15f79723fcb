import { type Command, InvalidArgumentError } from 'commander';
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
    .requiredOption('--from <place>', 'a folder, or postgres://…', sourceAt)
    .requiredOption('--to <place>', 'the same; its own log may have other sessions', sourceAt)
    .action(choose);
}

function sourceAt(place: string): LogSource {
  if (/^postgres(ql)?:\/\//.test(place)) return { dataDir: '', store: place };
  if (place.includes('://')) throw new InvalidArgumentError('Expected a folder, or postgres://….');
  return { dataDir: place };
}
