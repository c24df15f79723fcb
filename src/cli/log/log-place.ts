import type { Command, Option } from 'commander';
import type { Environment } from '../../config/reading/expand.ts';
import { DEFAULT_DATA_DIR } from '../../config/settings.ts';
import { keyOf, keyOption, type RemoteService } from '../service/remote-service.ts';
import { urlOption } from '../service/url-option.ts';

/** Where a command finds an event log: in a data directory, or at a running service. */
export type LogPlace = { readonly dataDir: string } | RemoteService;

/** The options `--data-dir`, `--url` and `--key`. */
export interface PlaceFlags {
  readonly dataDir: string;
  readonly url?: string;
  readonly key?: string;
}

function serviceOption(): Option {
  return urlOption('address of a running service, instead of a folder').conflicts('dataDir');
}

/** Adds the options that say where the log is. */
export function addPlace(command: Command, environment: Environment, key = 'your key, for --url'): Command {
  return command
    .option('--data-dir <dir>', 'folder of the event log', defaultDataDir(environment))
    .addOption(serviceOption())
    .addOption(keyOption(key));
}

/** Ends the command line with an error when a key is given for a folder. */
export function placeOf(
  { dataDir, url, key }: PlaceFlags,
  command: Command,
  environment: Environment,
): LogPlace {
  if (url !== undefined) return { url, token: keyOf(key, environment) };
  if (key !== undefined)
    command.error("error: option '--key' needs '--url': a data directory asks for no key");
  return { dataDir };
}

export function defaultDataDir(environment: Environment): string {
  return environment.AGENT_SERVICE_DATA_DIR || DEFAULT_DATA_DIR;
}
