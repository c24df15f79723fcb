import { isIP } from 'node:net';
import { bareHost } from '../core/host-literal.ts';
import { messageOf } from '../core/thrown.ts';
import { closest } from './problems/closest.ts';
import type { Environment } from './reading/expand.ts';

/** A setting has an invalid value. The message names the flag, the variable or the key of a file that has set it. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

/** A value, and the flag, the variable or the key of a file that it came from. */
export interface Given {
  readonly name: string;
  readonly value: string;
}

interface Candidate {
  readonly name: string;
  readonly value: string | undefined;
}

const switches = ['1', '0', 'true', 'false'] as const;

export function firstGiven(...candidates: readonly Candidate[]): Given | undefined {
  return candidates.find((candidate): candidate is Given => candidate.value !== undefined);
}

/** An empty variable counts as not set. */
export function ofVariable(environment: Environment, name: string): Candidate {
  return { name, value: environment[name] || undefined };
}

export function parseSwitch(given: Given | undefined): boolean {
  const switched = parseOption(given, switches);
  return switched === '1' || switched === 'true';
}

export function parseOption<T extends string>(
  given: Given | undefined,
  options: readonly T[],
): T | undefined {
  if (given === undefined) return undefined;
  const found = options.find((option) => option === given.value);
  if (found !== undefined) return found;
  const meant = closest(given.value, options);
  throw refuse(
    given,
    `one of ${options.join(', ')}${meant === undefined ? '' : `; did you mean "${meant}"?`}`,
  );
}

export function parsePort(given: Given | undefined): number | undefined {
  if (given === undefined) return undefined;
  const port = /^\d{1,5}$/.test(given.value) ? Number(given.value) : Number.NaN;
  if (port <= 65_535) return port;
  throw refuse(given, 'a port from 0 to 65535, where 0 takes a free one');
}

export function parseText(given: Given | undefined, expected: string): string | undefined {
  if (given?.value.trim() === '') throw refuse(given, expected);
  return given?.value;
}

/** An IPv6 address may be in brackets, as in a URL. */
export function parseHost(given: Given | undefined): string | undefined {
  const host = parseText(given, 'an address such as 127.0.0.1');
  if (given === undefined || host === undefined) return undefined;
  const bare = bareHost(host);
  // Only IPv6 addresses have colons. Others come from a port or a URL.
  if (bare.includes(':') && isIP(bare) !== 6)
    throw refuse(given, 'an address such as 127.0.0.1 or ::1 alone; --web-port sets the port');
  return bare;
}

/** @param parse throws an error that does not repeat the address, which may have a password. */
export function parseAddress(
  given: Given | undefined,
  parse: (address: string) => unknown,
): string | undefined {
  if (given === undefined) return undefined;
  try {
    parse(given.value);
  } catch (error) {
    throw new SettingsError(`${given.name}: ${messageOf(error)}`, { cause: error });
  }
  return given.value;
}

function refuse({ name, value }: Given, expected: string): SettingsError {
  return new SettingsError(`${name}: found ${JSON.stringify(value)}; expected ${expected}`);
}
