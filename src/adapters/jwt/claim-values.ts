import type { JWTPayload } from 'jose';
import type { ClaimPath } from '../../config/schema/jwt-config.ts';
import { isJsonObject } from '../../core/json-object.ts';
import { refused } from './refusal.ts';

/** Longer names are refused. Names go into the metadata of events. */
const MAX_NAME_CHARACTERS = 200;

/** For people: `realm_access.roles`. */
export function claimName(path: ClaimPath): string {
  return typeof path === 'string' ? path : path.join('.');
}

/** The value of a claim; undefined if it is absent or null. */
function claimAt(payload: JWTPayload, path: ClaimPath): unknown {
  const keys = typeof path === 'string' ? path.split('.') : path;
  const value = keys.reduce<unknown>(
    (found, key) => (isJsonObject(found) && Object.hasOwn(found, key) ? found[key] : undefined),
    payload,
  );
  return value ?? undefined;
}

/** The value of a claim that names somebody or something. */
export function nameAt(payload: JWTPayload, path: ClaimPath): string {
  const value = claimAt(payload, path);
  if (value === undefined) throw refused('missing claim', claimName(path));
  if (!isName(value)) throw refused('invalid claim', claimName(path));
  return value;
}

/**
 * Control characters are refused because names are logged; lone surrogates because the log would store two different
 * names as the same bytes.
 */
export function isName(value: unknown): value is string {
  if (typeof value !== 'string' || value === '' || value.length > MAX_NAME_CHARACTERS) return false;
  return value.isWellFormed() && !/\p{Cc}/u.test(value);
}

/** The value of a claim that is a name, or a list of one name: Keycloak lists the organizations of a user. */
export function onlyNameAt(payload: JWTPayload, path: ClaimPath): string {
  const value = claimAt(payload, path);
  if (!Array.isArray(value)) return nameAt(payload, path);
  const [name] = value;
  if (value.length !== 1 || typeof name !== 'string') throw refused('invalid claim', claimName(path));
  return name;
}

/** The names that a claim lists; none if it is absent. A string is one name, whatever is in it. */
export function namesAt(payload: JWTPayload, path: ClaimPath): readonly string[] {
  const value = claimAt(payload, path) ?? [];
  const names: unknown[] = Array.isArray(value) ? value : [value];
  if (!names.every((name) => typeof name === 'string')) throw refused('invalid claim', claimName(path));
  return names;
}

/** The words that a claim lists: an array, or one string with spaces as in the `scope` of OAuth. */
export function wordsAt(payload: JWTPayload, path: ClaimPath): readonly string[] {
  return namesAt(payload, path).flatMap((text) => text.split(' '));
}
