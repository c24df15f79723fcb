import { isJsonObject } from '../../core/json-object.ts';
import { MAX_NOTE_CHARACTERS, mapSchemas, oncePerSchema, type Schema, withNote } from './nested-schemas.ts';
import { withoutReferences } from './references.ts';

/**
 * The schema of a tool with the keywords that Google takes of OpenAPI 3.0. It refuses the whole request for any other, and
 * Kimi and Fireworks for some of them:
 * https://github.com/n8n-io/n8n/issues/15553, https://github.com/danny-avila/LibreChat/issues/11761,
 * https://github.com/memodb-io/Acontext/issues/107, https://github.com/pizza-bot-app/pizza-bot/issues/62
 */
export const openApiSchema = oncePerSchema((schema) =>
  mapSchemas(mapSchemas(withoutReferences(schema), converted), withSomeType),
);

function converted(schema: Schema): Schema {
  return CONVERSIONS.reduce((changed, convert) => convert(changed), schema);
}

const CONVERSIONS = [
  withAnyOf,
  withTexts,
  withFormat,
  withBounds,
  withOtherNames,
  withKnownKeywords,
  withAnyOfAlone,
  withOneType,
] as const;

/**
 * https://ai.google.dev/api/caching#Schema, without `title`, which models take for the name of a function:
 * https://github.com/pydantic/pydantic-ai/pull/3487
 */
const KEYWORDS: ReadonlySet<string> = new Set([
  'type',
  'description',
  'format',
  'nullable',
  'enum',
  'default',
  'anyOf',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'pattern',
  'items',
  'minItems',
  'maxItems',
  'properties',
  'required',
  'minProperties',
  'maxProperties',
]);

function withKnownKeywords(schema: Schema): Schema {
  const known = Object.entries(schema).filter(([keyword]) => KEYWORDS.has(keyword));
  const { required, ...others } = Object.fromEntries(known);
  const { properties, items } = others;
  const names = listIn(required).filter(
    (name) => isJsonObject(properties) && Object.hasOwn(properties, String(name)),
  );
  return {
    ...others,
    ...(typeof items === 'boolean' && { items: {} }),
    ...(names.length > 0 && { required: names }),
  };
}

/** Only one of several schemas means any of them to a model, and all of several are one. */
function withAnyOf({ oneOf, allOf, ...others }: Schema): Schema {
  const whole = [...listIn(allOf).filter(isJsonObject), others].reduce(bothOf);
  return Array.isArray(oneOf) && whole.anyOf === undefined ? { ...whole, anyOf: oneOf } : whole;
}

function bothOf(one: Schema, other: Schema): Schema {
  const { properties, required } = one;
  return {
    ...one,
    ...other,
    ...(isJsonObject(properties) &&
      isJsonObject(other.properties) && { properties: { ...properties, ...other.properties } }),
    ...(required !== undefined && {
      required: [...new Set([...listIn(required), ...listIn(other.required)])],
    }),
  };
}

/**
 * Nothing but a description stands beside `anyOf`: Vertex and Kimi refuse a `type` there. An object that says more has the
 * properties of all alternatives, as at the top of a schema. https://github.com/MoonshotAI/kimi-cli/issues/1595
 */
function withAnyOfAlone(schema: Schema): Schema {
  const { anyOf, ...others } = schema;
  if (!Array.isArray(anyOf)) return schema;
  const alternatives = anyOf.filter(isJsonObject);
  if (alternatives.length === 0) return others;
  const { type, description, properties, items, enum: texts } = others;
  if (isJsonObject(properties)) {
    const all = [...alternatives.map((one) => one.properties), properties];
    return { ...others, properties: Object.assign({}, ...all) };
  }
  if (items !== undefined || texts !== undefined) return others;
  const needsType = (one: Schema): boolean =>
    typeof type === 'string' && one.type === undefined && one.anyOf === undefined;
  return {
    ...(description !== undefined && { description }),
    anyOf: alternatives.map((one) => (needsType(one) ? { ...one, type } : one)),
  };
}

/** An `enum` has strings only, and no empty one. The description names other values, so that the model can still use them. */
function withTexts({ const: only, enum: several, ...others }: Schema): Schema {
  const values = only === undefined ? several : [only];
  if (!Array.isArray(values)) return others;
  const areTexts = values.every((value) => typeof value === 'string' && value !== '');
  if (areTexts) return { type: 'string', ...others, enum: values };
  return withNote(others, `One of: ${values.map((value) => JSON.stringify(value)).join(', ')}.`);
}

const FORMATS: ReadonlySet<unknown> = new Set(['date-time', 'float', 'double', 'int32', 'int64']);

/** Google refuses any other format: https://github.com/google-gemini/gemini-cli/issues/2237 */
function withFormat(schema: Schema): Schema {
  const { format, ...others } = schema;
  return typeof format !== 'string' || FORMATS.has(format) ? schema : withNote(others, `Format: ${format}.`);
}

/** The nearest bounds that may be reached. */
function withBounds(schema: Schema): Schema {
  const { exclusiveMinimum: above, exclusiveMaximum: below, minimum, maximum, type } = schema;
  const isWhole = type === 'integer';
  return {
    ...schema,
    ...(typeof above === 'number' && {
      minimum: Math.max(isWhole ? Math.floor(above) + 1 : above, numberIn(minimum, -Infinity)),
    }),
    ...(typeof below === 'number' && {
      maximum: Math.min(isWhole ? Math.ceil(below) - 1 : below, numberIn(maximum, Infinity)),
    }),
  };
}

/** Google refuses `additionalProperties`: https://github.com/glowingjade/obsidian-smart-composer/issues/455 */
function withOtherNames({ additionalProperties: values, ...schema }: Schema): Schema {
  const told = isJsonObject(values) ? JSON.stringify(values) : '{}';
  if (told === '{}' || told.length > MAX_NOTE_CHARACTERS) return schema;
  return withNote(schema, `The values of other names: ${told}.`);
}

function numberIn(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}

function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/**
 * A `type` is a single name. Each type gets its own keywords. Schemas that are nested in several branches would double the
 * schema at each level.
 */
function withOneType(schema: Schema): Schema {
  const { type, description, ...others } = schema;
  if (!Array.isArray(type)) return schema;
  const anyOf = type.map((name) => ({
    ...Object.fromEntries(Object.entries(others).filter(([keyword]) => isOf(keyword, name))),
    type: name,
  }));
  return { ...(description !== undefined && { description }), anyOf };
}

const ANY = [
  ...['string', 'number', 'boolean', 'object'].map((type) => ({ type })),
  { type: 'array', items: { type: 'string' } },
];

/**
 * A schema without a type is refused: https://github.com/NousResearch/hermes-agent/pull/89673 and
 * https://github.com/earendil-works/pi/issues/5352
 */
function withSomeType(schema: Schema): Schema {
  const { type, anyOf, description, properties, items } = schema;
  if (type !== undefined || anyOf !== undefined) return schema;
  if (properties !== undefined) return { type: 'object', ...schema };
  if (items !== undefined) return { type: 'array', ...schema };
  return { ...(description !== undefined && { description }), anyOf: ANY };
}

const OF_OBJECTS: ReadonlySet<string> = new Set(['properties', 'required']);

function isOf(keyword: string, type: unknown): boolean {
  if (keyword === 'items') return type === 'array';
  return OF_OBJECTS.has(keyword) ? type === 'object' : type !== 'null';
}
