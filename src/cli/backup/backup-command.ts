import type { Command } from 'commander';
import type { Environment } from '../../config/reading/expand.ts';
import { defaultDataDir, type LogPlace, type PlaceFlags, placeOf, serviceOption } from '../log/log-place.ts';

export interface BackupOptions {
  /** The log of a service that runs. */
  readonly log: LogPlace;
  readonly to: string;
}

export function addBackup(
  program: Command,
  environment: Environment,
  choose: (options: BackupOptions) => void,
): void {
  program
    .command('backup')
    .description(
      'Copies the event log of a running service on this machine, and checks every event of the copy.',
    )
    .requiredOption('--to <dir>', 'folder of the copy, new or empty')
    .option('--data-dir <dir>', 'folder of the event log', defaultDataDir(environment))
    .addOption(serviceOption())
    .action(({ to, ...place }: PlaceFlags & { to: string }) => choose({ to, log: placeOf(place) }));
}
