type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * Whether a check of a value may run a regular expression, which may never come to an end. A property may be called `pattern`,
 * too, which does no harm.
 */
export function hasPattern(schema: JsonSchema): boolean {
  return JSON.stringify(schema).includes('"pattern');
}

/** The schema without a keyword of Ajv's own, with which it would answer with a promise that rejects. */
export function withoutAsync({ $async: _mode, ...schema }: JsonSchema): JsonSchema {
  return schema;
}
