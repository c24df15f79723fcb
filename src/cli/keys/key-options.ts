import type { z } from 'zod';
import { closest } from '../../config/problems/closest.ts';
import { describeExpected } from '../../config/problems/describe-expected.ts';
import { parseApiKey } from '../../core/access/api-key.ts';
import { DAY_MS } from '../../core/timeout-ms.ts';

const UNIT_MS: Readonly<Record<string, number>> = {
  h: 60 * 60_000,
  d: DAY_MS,
  w: 7 * DAY_MS,
};
const MAX_MS = 3_650 * DAY_MS;

/** @returns how long a key is valid, in milliseconds. */
export function parseValidity(text: string): number {
  return parseDuration(text) ?? refuse('--expires', text, 'a time such as 12h, 90d or 8w, of at most 3650d');
}

/** @returns how long ago something was, in milliseconds. */
export function parseAge(option: string, text: string): number {
  return (
    parseDuration(text) ?? refuse(option, text, 'a time such as 2026-11-01, or how long ago: 24h, 7d, 4w')
  );
}

function parseDuration(text: string): number | undefined {
  const [, count, unit = ''] = /^(\d{1,6})([hdw])$/.exec(text) ?? [];
  const ms = Number(count) * (UNIT_MS[unit] ?? Number.NaN);
  return ms > 0 && ms <= MAX_MS ? ms : undefined;
}

function refuse(option: string, found: string, expected: string): never {
  throw unexpected(option, found, expected);
}

/** @param option for the message. */
export function parseOption<T>(option: string, text: string, schema: z.ZodType<T>): T {
  const { data, error } = schema.safeParse(text);
  if (data !== undefined) return data;
  throw unexpected(option, text, error?.issues.map(describeExpected).join(', ') ?? 'something else');
}

export function requireKnownRoles(roles: readonly string[], known: readonly string[]): void {
  const unknown = roles.find((role) => !known.includes(role));
  if (unknown === undefined) return;
  const meant = closest(unknown, known);
  const hint = meant === undefined ? '' : `; did you mean "${meant}"?`;
  throw unexpected(
    '--role',
    unknown,
    `one of ${known.join(', ')}${hint}; --config service.yml adds the roles of a service file`,
  );
}

/** The id of a key that is named by its id, or that somebody has only as a whole, for example because it leaked. */
export function parseKeyId(text: string): string {
  const keyId = parseApiKey(text)?.keyId ?? text;
  if (/^[0-9A-Za-z]{8}$/.test(keyId)) return keyId;
  // Does not show the text, because it may be a key in which a character is wrong.
  throw new Error(
    'id: expected the 8 characters of a key between as_ and the next _, as the list shows them',
  );
}

function unexpected(option: string, found: string, expected: string): Error {
  return new Error(`${option}: found ${JSON.stringify(found)}; expected ${expected}`);
}
