import type { Command } from 'commander';
import type { Environment } from '../../config/reading/expand.ts';
import { addFolder, type LogPlace, type PlaceFlags, serviceOption } from '../log/log-place.ts';
import { keyOf, keyOption } from '../service/remote-service.ts';

export interface BackupOptions {
  /** The log of a service that runs. */
  readonly log: LogPlace;
  /** A key of the service. */
  readonly token: string | undefined;
  readonly to: string;
}

export function addBackup(
  program: Command,
  environment: Environment,
  choose: (options: BackupOptions) => void,
): void {
  const command = program
    .command('backup')
    .description(
      'Copies the event log of a running service on this machine, and checks every event of the copy.',
    )
    .requiredOption('--to <dir>', 'folder of the copy, new or empty');
  addFolder(command, environment)
    .addOption(serviceOption())
    .addOption(keyOption("an administrator's key, where the service asks for one"))
    .action(({ to, dataDir, url, key }: PlaceFlags & { to: string }) => {
      const token = keyOf(key, environment);
      choose({ to, token, log: url === undefined ? { dataDir } : { url } });
    });
}
