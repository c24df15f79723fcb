import { mapSchemas, oncePerSchema, type Schema } from './nested-schemas.ts';

/**
 * The schema of a tool with the keywords that OpenAPI 3.0 has. Google's own interface refuses the others:
 * https://github.com/n8n-io/n8n/issues/15553, https://github.com/danny-avila/LibreChat/issues/11761,
 * https://github.com/decolua/9router/pull/380
 */
export const openApiSchema = oncePerSchema((schema) =>
  mapSchemas(schema, (nested) => withOneType(withTexts(nested))),
);

/** An `enum` has strings only. The description names other values, so that the model can still use them. */
function withTexts({ propertyNames: _, const: only, enum: several, ...others }: Schema): Schema {
  const values = only === undefined ? several : [only];
  if (!Array.isArray(values)) return others;
  if (values.every((value) => typeof value === 'string')) return { type: 'string', ...others, enum: values };
  const note = `One of: ${values.map((value) => JSON.stringify(value)).join(', ')}.`;
  const { description } = others;
  return { ...others, description: typeof description === 'string' ? `${description} ${note}` : note };
}

/**
 * A `type` is a single name. Each type gets its own keywords. Schemas that are nested in several branches would double the
 * schema at each level.
 */
function withOneType(schema: Schema): Schema {
  const { type, description, ...others } = schema;
  if (!Array.isArray(type)) return schema;
  const first = type.find((name) => name !== 'null');
  const anyOf = type.map((name) => ({
    ...Object.fromEntries(Object.entries(others).filter(([keyword]) => isOf(keyword, name, first))),
    type: name,
  }));
  return { ...(description !== undefined && { description }), anyOf };
}

const OF_LISTS = new Set(['items', 'prefixItems', 'contains', 'additionalItems', 'unevaluatedItems']);
const OF_OBJECTS = new Set([
  'properties',
  'required',
  'additionalProperties',
  'patternProperties',
  'dependentSchemas',
  'unevaluatedProperties',
]);
const ALTERNATIVES = new Set([
  'anyOf',
  'oneOf',
  'allOf',
  'not',
  'if',
  'then',
  'else',
  '$defs',
  'definitions',
]);

function isOf(keyword: string, type: unknown, first: unknown): boolean {
  if (OF_LISTS.has(keyword)) return type === 'array';
  if (OF_OBJECTS.has(keyword)) return type === 'object';
  return ALTERNATIVES.has(keyword) ? type === first : type !== 'null';
}
