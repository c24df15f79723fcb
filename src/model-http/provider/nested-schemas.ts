import { isJsonObject, type JsonObject } from '../../core/json-object.ts';

export type Schema = JsonObject;

/** Keywords whose value is a schema; in older drafts `items` may be a list of them. */
const HOLDS_ONE = new Set([
  'items',
  'additionalItems',
  'additionalProperties',
  'unevaluatedItems',
  'unevaluatedProperties',
  'propertyNames',
  'contains',
  'not',
  'if',
  'then',
  'else',
]);
const HOLDS_LIST = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems']);
const HOLDS_NAMED = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']);

/** No schema that a model could fill in is nested deeper. */
export const DEEPEST = 64;

/** Remembers the change of each schema: that of a tool stays the same object from call to call. */
export function oncePerSchema(change: (schema: Schema) => Schema): (schema: Schema) => Schema {
  const known = new WeakMap<Schema, Schema>();
  return (schema) => {
    const before = known.get(schema);
    if (before) return before;
    const changed = change(schema);
    known.set(schema, changed);
    return changed;
  };
}

/** The schema, with each schema in it and then itself changed. What is nested too deeply stays as it is. */
export function mapSchemas(schema: Schema, change: (schema: Schema) => Schema, depth = 0): Schema {
  if (depth === DEEPEST) return schema;
  return change(mapInner(schema, (inner) => mapSchemas(inner, change, depth + 1)));
}

/** The schema, with the schemas directly in it changed. */
export function mapInner(schema: Schema, change: (schema: Schema) => Schema): Schema {
  const within = (value: unknown): unknown => (isJsonObject(value) ? change(value) : value);
  const fields = Object.entries(schema).map(([key, value]) => {
    if (HOLDS_NAMED.has(key) && isJsonObject(value)) return [key, mapValues(value, within)];
    if (!HOLDS_ONE.has(key) && !HOLDS_LIST.has(key)) return [key, value];
    return [key, Array.isArray(value) ? value.map(within) : within(value)];
  });
  return Object.fromEntries(fields);
}

/** A longer note tells a model more than it needs. */
export const MAX_NOTE_CHARACTERS = 200;

/** Adds a sentence to the description of a schema. */
export function withNote(schema: Schema, note: string): Schema {
  const { description } = schema;
  return { ...schema, description: typeof description === 'string' ? `${description} ${note}` : note };
}

function mapValues(values: Schema, change: (value: unknown) => unknown): Schema {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value)]));
}
