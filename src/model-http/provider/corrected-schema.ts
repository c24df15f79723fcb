import { isJsonObject } from '../../core/json-object.ts';
import type { Schema } from './nested-schemas.ts';

/**
 * A schema without what JSON Schema 2020-12 does not allow: keywords with the values of older drafts, and mistakes that
 * checkers of schemas overlook. Anthropic refuses the whole request for one such schema, and so do others.
 * https://github.com/Dokploy/mcp/issues/74
 */
export function corrected(schema: Schema): Schema {
  return CORRECTIONS.reduce((changed, correct) => correct(changed), schema);
}

const CORRECTIONS = [withKnownType, withoutBrokenNames, withBounds, withItems] as const;

const TYPES: ReadonlySet<unknown> = new Set([
  'array',
  'boolean',
  'integer',
  'null',
  'number',
  'object',
  'string',
]);

/** An unknown type, such as `any`, accepts everything, as no type does. */
function withKnownType(schema: Schema): Schema {
  const { type, ...others } = schema;
  if (type === undefined || TYPES.has(type)) return schema;
  const known = Array.isArray(type) ? type.filter((name) => TYPES.has(name)) : [];
  return known.length > 0 ? { ...others, type: known } : others;
}

/** Draft 3 has `required: true` in a property, and PHP encodes an empty object as a list. */
function withoutBrokenNames(schema: Schema): Schema {
  const { required, ...others } = schema;
  const named = required === undefined || Array.isArray(required) ? schema : others;
  return named.properties === undefined || isJsonObject(named.properties)
    ? named
    : { ...named, properties: {} };
}

function withBounds(schema: Schema): Schema {
  return withBound(withBound(schema, 'minimum', 'exclusiveMinimum'), 'maximum', 'exclusiveMaximum');
}

/** In draft 4, a boolean says whether the bound itself is excluded. */
function withBound(schema: Schema, bound: string, exclusive: string): Schema {
  const { [exclusive]: isExcluded, [bound]: limit, ...others } = schema;
  if (typeof isExcluded !== 'boolean') return schema;
  return limit === undefined ? others : { ...others, [isExcluded ? exclusive : bound]: limit };
}

/**
 * OpenAI and Google refuse the whole request for a list without `items`, and OpenAI for the tuples of older drafts, whose
 * `items` are a list. https://github.com/spacelift-io/spacectl/issues/402,
 * https://github.com/NousResearch/hermes-agent/pull/71816
 */
function withItems(schema: Schema): Schema {
  const { type, items } = schema;
  if (Array.isArray(items)) return { ...schema, ...(items.length > 0 && { prefixItems: items }), items: {} };
  const isList = type === 'array' || (Array.isArray(type) && type.includes('array'));
  return !isList || isJsonObject(items) || typeof items === 'boolean' ? schema : { ...schema, items: {} };
}
