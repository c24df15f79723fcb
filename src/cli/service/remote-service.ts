import { Option } from 'commander';
import type { Environment } from '../../config/reading/expand.ts';

/** A running service, and the key with which a command asks it. */
export interface RemoteService {
  readonly url: string;
  /** An API key or an access token, for a service that authenticates its clients. */
  readonly token?: string | undefined;
}

/** @param path in the service, such as `api/sessions`. The address of a service may have a path of its own. */
export function serviceAddress(base: string, path: string): URL {
  return new URL(path, base.endsWith('/') ? base : `${base}/`);
}

/** For whoever was refused. */
export const KEY_ADVICE = 'give a key with --key or AGENT_SERVICE_KEY';

/** @param whose such as `your key`. */
export function keyOption(whose: string): Option {
  return new Option('--key <key>', `${whose}; better in AGENT_SERVICE_KEY, which no process list shows`);
}

/** The key that was typed, else the one of the environment. */
export function keyOf(flag: string | undefined, environment: Environment): string | undefined {
  return flag ?? (environment.AGENT_SERVICE_KEY || undefined);
}

/**
 * The headers that show a key.
 * @throws Error when no header can have the key.
 */
export function keyHeaders(token: string | undefined): Readonly<Record<string, string>> {
  if (token === undefined) return {};
  if (/^[\x21-\x7e]+$/.test(token)) return { Authorization: `Bearer ${token}` };
  // Does not show the text, because it may be a key with something beside it.
  throw new Error(
    '--key or AGENT_SERVICE_KEY: found text that no header can have; expected a key such as as_…',
  );
}
