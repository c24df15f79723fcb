/** A token of JSON: a string, in which digits mean nothing, or a number. */
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
/** What every text has in which a number could be another one. Most have neither. */
const SUSPECT = /\d{16}|[eE]\+?\d{3}/;
const LONG_INTEGER = /^-?\d{16,}$/;

/**
 * The first number of a JSON text that JavaScript reads as another one: an integer of more than 53 bits, such as
 * 9007199254740993, or a number that is too large, such as 1e400. Fractions are rounded everywhere, and do not count.
 */
export function changedNumber(json: string): string | undefined {
  if (!SUSPECT.test(json)) return undefined;
  for (const [token] of json.matchAll(TOKEN)) if (!token.startsWith('"') && isChanged(token)) return token;
  return undefined;
}

function isChanged(token: string): boolean {
  const value = Number(token);
  if (!Number.isFinite(value)) return true;
  return LONG_INTEGER.test(token) && BigInt(token) !== BigInt(value);
}
