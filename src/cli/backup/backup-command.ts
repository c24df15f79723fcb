import type { Command } from 'commander';
import { urlOption } from '../service/url-option.ts';

export interface BackupOptions {
  /** Folder of the service's event log, or the address of the service. */
  readonly service: { readonly dataDir: string } | { readonly url: string };
  readonly to: string;
}

interface Flags {
  readonly to: string;
  readonly dataDir: string;
  readonly url?: string;
}

export function addBackup(
  program: Command,
  defaultDataDir: string,
  choose: (options: BackupOptions) => void,
): void {
  program
    .command('backup')
    .description(
      'Copies the event log of a running service on this machine, and checks every event of the copy.',
    )
    .requiredOption('--to <dir>', 'folder of the copy, new or empty')
    .option('--data-dir <dir>', 'folder of the event log of the service', defaultDataDir)
    .addOption(urlOption('address of the service, instead of its folder').conflicts('dataDir'))
    .action(({ to, dataDir, url }: Flags) =>
      choose({ to, service: url === undefined ? { dataDir } : { url } }),
    );
}
