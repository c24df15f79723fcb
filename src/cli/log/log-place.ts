import type { Option } from 'commander';
import type { Environment } from '../../config/reading/expand.ts';
import { DEFAULT_DATA_DIR } from '../../config/settings.ts';
import { urlOption } from '../service/url-option.ts';

/** Where a command finds an event log: in a data directory, or at a running service. */
export type LogPlace = { readonly dataDir: string } | { readonly url: string };

/** The options `--data-dir` and `--url`. */
export interface PlaceFlags {
  readonly dataDir: string;
  readonly url?: string;
}

export function serviceOption(): Option {
  return urlOption('address of a running service, instead of a folder').conflicts('dataDir');
}

export function placeOf({ dataDir, url }: PlaceFlags): LogPlace {
  return url === undefined ? { dataDir } : { url };
}

export function defaultDataDir(environment: Environment): string {
  return environment.AGENT_SERVICE_DATA_DIR || DEFAULT_DATA_DIR;
}
