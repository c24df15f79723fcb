import type { Command, Option } from 'commander';
import type { Environment } from '../../config/reading/expand.ts';
import { DEFAULT_DATA_DIR } from '../../config/settings.ts';
import { keyOf, keyOption, type RemoteService } from '../service/remote-service.ts';
import { urlOption } from '../service/url-option.ts';

/** An event log that no service uses. */
export interface LogSource {
  /** The folder of the log, or only of the key of its secrets. */
  readonly dataDir: string;
  /** The PostgreSQL database that has the log instead of the folder. */
  readonly store?: string | undefined;
}

/** Where a command finds an event log. */
export type LogPlace = LogSource | RemoteService;

/** The options `--data-dir`, `--store`, `--url` and `--key`. */
export interface PlaceFlags extends LogSource {
  readonly url?: string;
  readonly key?: string;
}

/** The option for the address of a running service. */
export function serviceOption(): Option {
  return urlOption('address of a running service, instead of a folder').conflicts(['dataDir', 'store']);
}

/** Adds the options that say where the log is. */
export function addPlace(command: Command, environment: Environment, key = 'your key, for --url'): Command {
  return addSource(command, environment).addOption(serviceOption()).addOption(keyOption(key));
}

/** Adds the options for a log that no service uses. */
export function addSource(command: Command, environment: Environment): Command {
  return addFolder(command, environment)
    .option('--store <url>', 'PostgreSQL database with the event log, instead of a folder')
    .hook('preAction', refuseTwoPlaces);
}

/** Other commands would ignore the folder. */
function refuseTwoPlaces(_: Command, command: Command): void {
  if (command.opts<PlaceFlags>().store !== undefined && namesFolder(command))
    command.error("error: option '--store <url>' cannot be used with option '--data-dir <dir>'");
}

/** Whether the folder was typed, and for its log. A live replay may have it for the key of the secrets alone. */
export function namesFolder(command: Command): boolean {
  return command.getOptionValueSource('dataDir') === 'cli' && !command.opts<{ live?: boolean }>().live;
}

/** Adds the option for the folder of a log. */
export function addFolder(command: Command, environment: Environment): Command {
  return command.option('--data-dir <dir>', 'folder of the event log', defaultDataDir(environment));
}

/** A database wins over a folder, as it does for the service, unless only the folder was typed. */
export function sourceOf(
  { dataDir, store }: LogSource,
  command: Command,
  environment: Environment,
): LogSource {
  if (namesFolder(command)) return { dataDir };
  return { dataDir, store: store ?? (environment.AGENT_SERVICE_STORE || undefined) };
}

/** Ends the command line with an error when a key is given for a folder. */
export function placeOf(
  { url, key, ...source }: PlaceFlags,
  command: Command,
  environment: Environment,
): LogPlace {
  if (url !== undefined) return { url, token: keyOf(key, environment) };
  if (key !== undefined)
    command.error("error: option '--key' needs '--url': a data directory asks for no key");
  return sourceOf(source, command, environment);
}

export function defaultDataDir(environment: Environment): string {
  return environment.AGENT_SERVICE_DATA_DIR || DEFAULT_DATA_DIR;
}
