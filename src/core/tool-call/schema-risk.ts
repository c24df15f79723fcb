type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * Whether a check of a value may run a regular expression, which may never come to an end. A property may be called `pattern`,
 * too, which does no harm.
 */
export function hasPattern(schema: JsonSchema): boolean {
  return JSON.stringify(schema).includes('"pattern');
}
