import { type Command, InvalidArgumentError } from 'commander';

export interface BackupOptions {
  readonly url: string;
  readonly to: string;
}

export function addBackup(program: Command, choose: (options: BackupOptions) => void): void {
  program
    .command('backup')
    .description(
      'Copies the event log of a running service on this machine, and checks every event of the copy.',
    )
    .requiredOption('--to <dir>', 'folder of the copy, new or empty')
    .option('--url <url>', 'address of the service', serviceUrl, 'http://127.0.0.1:3001')
    .action(choose);
}

function serviceUrl(text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text;
  throw new InvalidArgumentError('Expected an address such as http://127.0.0.1:3001.');
}
