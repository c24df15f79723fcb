/** The search below takes time that grows with the square of the length. */
const LONGEST = 1_000;
/** An escape of a regular expression, whole. */
const ESCAPE = /\\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[\s\S])/g;
/** The letters that Python, too, knows behind a backslash. */
const KNOWN = /^\\(?:[AbBdDsSwWZafnrtv]|u.{4}|x.{2}|[^a-zA-Z])$/s;
const SHORTHAND = /^\\[dDsSwW]$/;

/** A group with a name, or a look behind; `[]`, `[^]`; a range that begins or ends with a shorthand, as in `[\w-.]`. */
const OF_ECMASCRIPT = [/\(\?</, /\[\^?\]/, /\[[^\]]*\\-[^\]]/, /\[\^?[^\]]+-\\/];

/**
 * Whether Python reads a regular expression of a JSON Schema, which is one of ECMAScript. OpenAI reads them with Python, and
 * refuses the whole request for one that has `\p{…}`: https://github.com/BerriAI/litellm/pull/40485,
 * https://github.com/router-for-me/CLIProxyAPI/issues/5644. In doubt the answer is no.
 */
export function isPortable(pattern: string): boolean {
  if (pattern.length > LONGEST) return false;
  const escapes = pattern.match(ESCAPE) ?? [];
  if (!escapes.every((one) => KNOWN.test(one))) return false;
  // What is left has a backslash for a shorthand only.
  const bare = pattern.replaceAll(ESCAPE, (one) => (SHORTHAND.test(one) ? '\\' : 'x'));
  return !OF_ECMASCRIPT.some((syntax) => syntax.test(bare));
}
