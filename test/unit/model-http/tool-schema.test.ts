import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { acceptableTool } from '../../../src/model-http/provider/tool-schema.ts';

function schemaOf(
  inputSchema: Record<string, unknown>,
  rules: Parameters<typeof acceptableTool>[1] = {},
): Readonly<Record<string, unknown>> {
  return acceptableTool({ name: 't', description: '', inputSchema }, rules).inputSchema;
}

/** The schema of a property, as a provider is sent it. */
function propertyOf(
  schema: Record<string, unknown>,
  rules: Parameters<typeof acceptableTool>[1] = {},
): unknown {
  const sent = schemaOf({ type: 'object', properties: { rows: { type: 'array', items: schema } } }, rules);
  expect(new Ajv2020({ strict: false }).validateSchema(sent)).toBe(true);
  return JSON.parse(JSON.stringify(sent)).properties.rows.items;
}

const city = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const place = {
  type: 'object',
  properties: { lat: { type: 'number' }, lon: { type: 'number' }, city: { type: 'string' } },
  required: ['lat', 'lon'],
};

/** For providers that refuse a schema without a type. */
const ANYTHING = [
  ...['string', 'number', 'boolean', 'object'].map((type) => ({ type })),
  { type: 'array', items: { type: 'string' } },
];

describe('the schema of a tool, as a provider is sent it', () => {
  it('stays as it is when it is an object with properties', () => {
    const schema = { ...city, additionalProperties: false, description: 'Where.' };
    expect(schemaOf(schema)).toEqual(schema);
  });

  it.each([
    ['nothing', {}],
    ['no properties', { type: 'object' }],
    ['no type', { properties: {} }],
    ['two types', { type: ['object', 'null'] }],
    ['properties that are none', { type: 'object', properties: null }],
  ])('is an object with properties where it had %s', (_what, schema) => {
    expect(schemaOf(schema)).toEqual({ type: 'object', properties: {} });
  });

  it('has none of what says nothing to a model', () => {
    const marks = { $schema: 'https://json-schema.org/draft/2020-12/schema', $id: 'x', $comment: 'y' };
    expect(schemaOf({ ...marks, ...city })).toEqual(city);
  });

  it.each(['anyOf', 'oneOf'])(
    'has the properties of all alternatives of a top-level %s, and what each needs',
    (key) => {
      expect(schemaOf({ type: 'object', [key]: [city, { ...place, required: ['lat', 'city'] }] })).toEqual({
        type: 'object',
        properties: { ...city.properties, ...place.properties },
        required: ['city'],
      });
    },
  );

  it('has what all parts of a top-level allOf need', () => {
    expect(schemaOf({ allOf: [city, place] })).toEqual({
      type: 'object',
      properties: { ...city.properties, ...place.properties },
      required: ['city', 'lat', 'lon'],
    });
  });

  it('follows a reference at the top, and keeps the definitions that others refer to', () => {
    const $defs = {
      Where: { ...city, properties: { city: { $ref: '#/$defs/Name' } } },
      Name: { type: 'string' },
    };
    expect(schemaOf({ $ref: '#/$defs/Where', $defs })).toEqual({ ...$defs.Where, $defs });
  });

  it('ends where it refers to itself', () => {
    const $defs = { Loop: { anyOf: [{ $ref: '#/$defs/Loop' }, city] } };
    expect(schemaOf({ $ref: '#/$defs/Loop', $defs })).toMatchObject({ properties: city.properties });
  });

  it.each([
    ['nothing', {}, { items: {} }],
    ['a list of them', { items: [city, place] }, { prefixItems: [city, place], items: {} }],
  ])('says of each list what its items are, where it had %s', (_what, given, accepted) => {
    const list = (fields: object) => ({ type: 'array', ...fields });
    const whole = (fields: object) => ({
      type: 'object',
      properties: {
        rows: list({ items: list(fields) }),
        one: {
          anyOf: [
            { type: ['array', 'null'], ...fields },
            { type: 'object', properties: { items: city } },
          ],
        },
      },
      $defs: { Rows: list(fields) },
    });
    expect(schemaOf(whole(given))).toEqual(whole(accepted));
    expect(schemaOf(whole({ items: true }))).toEqual(whole({ items: true }));
  });

  it.each([
    [{ minimum: 0, exclusiveMinimum: true }, { exclusiveMinimum: 0 }],
    [{ maximum: 9, exclusiveMaximum: false }, { maximum: 9 }],
    [{ exclusiveMinimum: true, exclusiveMaximum: 9 }, { exclusiveMaximum: 9 }],
    [{ type: 'string', required: true }, { type: 'string' }],
    [{ items: [city] }, { prefixItems: [city], items: {} }],
    [
      { type: 'array', items: [] },
      { type: 'array', items: {} },
    ],
    [{ type: 'any', description: 'x' }, { description: 'x' }],
    [{ type: ['string', 'any'] }, { type: ['string'] }],
    [
      { type: 'object', properties: [] },
      { type: 'object', properties: {} },
    ],
  ])('is one of JSON Schema 2020-12, where a property had %j', (given, sent) => {
    expect(propertyOf(given)).toEqual(sent);
  });

  it.each([
    [
      { type: ['string', 'null'], enum: ['a'], description: 'x' },
      { description: 'x', anyOf: [{ type: 'string', enum: ['a'] }, { type: 'null' }] },
    ],
    [{ type: ['array', 'null'], items: city }, { anyOf: [{ type: 'array', items: city }, { type: 'null' }] }],
    [{ const: 'a' }, { type: 'string', enum: ['a'] }],
    [
      { type: 'integer', enum: [1, 2], description: 'How many.' },
      { type: 'integer', description: 'How many. One of: 1, 2.' },
    ],
    [{ const: null }, { description: 'One of: null.', anyOf: ANYTHING }],
    [{}, { anyOf: ANYTHING }],
    [{ properties: city.properties }, { type: 'object', properties: city.properties }],
    [{ items: city }, { type: 'array', items: city }],
    [{ type: 'object', propertyNames: { pattern: 'a' } }, { type: 'object' }],
    [
      { type: 'string', enum: ['', 'a'] },
      { type: 'string', description: 'One of: "", "a".' },
    ],
    [
      { type: 'string', format: 'uri', description: 'Where.', title: 'Url' },
      { type: 'string', description: 'Where. Format: uri.' },
    ],
    [
      { type: 'string', format: 'date-time' },
      { type: 'string', format: 'date-time' },
    ],
    [
      { type: 'integer', exclusiveMinimum: 0, maximum: 9, multipleOf: 1 },
      { type: 'integer', minimum: 1, maximum: 9 },
    ],
    [
      { type: 'number', minimum: 1, exclusiveMinimum: 0, exclusiveMaximum: 9 },
      { type: 'number', minimum: 1, maximum: 9 },
    ],
    [{ oneOf: [city, place], $comment: 'x' }, { anyOf: [city, place] }],
    [
      { allOf: [city, place], description: 'Where.' },
      {
        ...place,
        properties: { ...city.properties, ...place.properties },
        required: ['city', 'lat', 'lon'],
        description: 'Where.',
      },
    ],
    [{ ...city, anyOf: [{ required: ['city'] }], patternProperties: { a: city } }, city],
    [
      { type: 'object', anyOf: [{ ...city, type: 'object' }, { required: ['a'] }], default: {} },
      { anyOf: [city, { type: 'object' }] },
    ],
    [
      { ...city, anyOf: [{ properties: { lat: { type: 'number' } } }] },
      { ...city, properties: { lat: { type: 'number' }, ...city.properties } },
    ],
    [{ ...city, required: ['city', 'country'] }, city],
    [{ ...city, additionalProperties: false }, city],
    [
      { type: 'object', additionalProperties: { type: 'number' } },
      { type: 'object', description: 'The values of other names: {"type":"number"}.' },
    ],
    [
      { type: 'array', prefixItems: [city], items: false },
      { type: 'array', items: { anyOf: ANYTHING } },
    ],
    [city, city],
  ])('has the keywords of OpenAPI only, for a provider that knows no others: %j', (given, sent) => {
    expect(propertyOf(given, { openApiSchemas: true })).toEqual(sent);
    expect(propertyOf(given)).toEqual(given);
  });

  it.each([
    [
      { type: 'string', pattern: '\\S', maxLength: 2_000, description: 'Who.' },
      { type: 'string', description: 'Who. It has: pattern \\S, maxLength 2000.' },
    ],
    [
      { type: 'array', items: { type: 'string', minLength: 1 }, maxItems: 100 },
      {
        type: 'array',
        items: { type: 'string', description: 'It has: minLength 1.' },
        description: 'It has: maxItems 100.',
      },
    ],
    [{ type: 'string', pattern: `^${'a'.repeat(500)}$` }, { type: 'string' }],
    [city, city],
  ])('has its patterns and bounds in descriptions, for a provider that refuses some: %j', (given, sent) => {
    expect(propertyOf(given, { describesBounds: true })).toEqual(sent);
    expect(propertyOf(given)).toEqual(given);
  });

  it.each([
    ['^\\p{L}+$'],
    ['^(?!__.*__$)[^\\p{Cc}\\p{Cf}"\\\\./[\\]]{1,200}$'],
    ['^[\\w-.]+@[\\w-]+$'],
    ['(?<year>\\d{4})'],
    ['\\u{1F600}'],
    ['[^]'],
  ])('has a pattern in its description that Python cannot read, as OpenAI does: %s', (pattern) => {
    const description = `It has: pattern ${pattern}.`;
    expect(propertyOf({ type: 'string', minLength: 1, pattern })).toEqual({
      type: 'string',
      minLength: 1,
      description,
    });
    const named = { type: 'object', patternProperties: { [pattern]: city, '^a': city } };
    expect(propertyOf(named)).toEqual({ type: 'object', patternProperties: { '^a': city } });
  });

  it.each([
    ['\\d{4}-\\d{2}'],
    ['[^\\0]+'],
    ['^https?:\\/\\/[\\s\\S]*'],
    ['\\\\p{L}'],
    ['[a-z\\d-]'],
    ['\\u00e9(?=x)'],
  ])('keeps a pattern that Python reads: %s', (pattern) =>
    expect(propertyOf({ type: 'string', pattern })).toEqual({ type: 'string', pattern }),
  );

  it('does not look at a very long pattern, which could take for ever', () => {
    const pattern = '['.repeat(200_000);
    expect(schemaOf({ type: 'object', properties: { a: { type: 'string', pattern } } })).toEqual({
      type: 'object',
      properties: { a: { type: 'string' } },
    });
  });

  it('has what its references refer to in their place, for a provider that knows none', () => {
    const $defs = {
      Where: { ...city, title: 'Where', properties: { city: { $ref: '#/$defs/Name' } } },
      Name: { type: 'string' },
      Tree: { type: 'object', properties: { under: { type: 'array', items: { $ref: '#/$defs/Tree' } } } },
    };
    const properties = {
      from: { $ref: '#/$defs/Where', description: 'Where from.' },
      to: { anyOf: [{ $ref: '#/properties/from' }, { type: 'null' }] },
      tree: { $ref: '#/$defs/Tree' },
      other: { $ref: 'https://example.com/other.json' },
    };
    const from = { ...city, description: 'Where from.' };
    const under = { type: 'array', items: { type: 'object' } };
    expect(schemaOf({ type: 'object', properties, $defs }, { openApiSchemas: true })).toEqual({
      type: 'object',
      properties: {
        from,
        to: { anyOf: [from, { type: 'null' }] },
        tree: { type: 'object', properties: { under } },
        other: { anyOf: ANYTHING },
      },
    });
  });

  it('stays small where its references hold each other many times, for a provider that knows none', () => {
    const level = (next: number) => ({ a: { $ref: `#/$defs/L${next}` }, b: { $ref: `#/$defs/L${next}` } });
    const $defs = Object.fromEntries(
      Array.from({ length: 30 }, (_, at) => [`L${at}`, { type: 'object', properties: level(at + 1) }]),
    );
    const sent = schemaOf({ type: 'object', properties: level(0), $defs }, { openApiSchemas: true });
    expect(JSON.stringify(sent).length).toBeLessThan(100_000);
  });

  it('does not grow with each level of a schema with several types, for a provider that takes one', () => {
    let nested: Record<string, unknown> = { type: ['array', 'object', 'string'] };
    for (let level = 0; level < 40; level += 1)
      nested = { type: ['array', 'object', 'null'], items: nested, properties: { deep: { type: 'string' } } };
    const sent = JSON.stringify(propertyOf(nested, { openApiSchemas: true }));
    expect(sent.length).toBeLessThan(10_000);
    expect(sent.match(/"items"/g)).toHaveLength(41);
  });

  it('is worked out once for each schema', () => {
    expect(schemaOf(city)).toBe(schemaOf(city));
  });

  it('requires no property that it does not have', () => {
    expect(schemaOf({ ...city, required: ['city', 'country'] })).toEqual(city);
  });

  it('has a description of 1,024 characters at most', () => {
    const described = (text: string) =>
      acceptableTool({ name: 't', description: text, inputSchema: {} }, {}).description;
    const description = described('x'.repeat(2_000));
    expect(description).toHaveLength(1_024);
    expect(description.endsWith('x…')).toBe(true);
    expect(described('short')).toBe('short');
  });

  it.each([
    [{ anyOf: [city, place] }, { lat: 1, lon: 2 }],
    [{ oneOf: [city, place] }, { city: 'Oslo' }],
    [{ allOf: [city, place] }, { city: 'Oslo', lat: 1, lon: 2 }],
    [{ type: 'object', not: { required: ['x'] } }, { y: 1 }],
    [{ type: 'object', if: city, else: { required: ['z'] } }, { z: 1 }],
    [{ ...city, enum: [{ city: 'Oslo' }] }, { city: 'Oslo' }],
  ])('takes what the tool itself takes: %j', (schema, args) => {
    const ajv = new Ajv({ strict: false });
    expect(ajv.validate(schema, args)).toBe(true);
    expect(ajv.validate(schemaOf(schema), args)).toBe(true);
  });

  it('is made in no time, also where its alternatives hold themselves', () => {
    const again = { $ref: '#/$defs/A' };
    const anyOf = [...Array.from({ length: 30 }, () => ({ ...again })), city];
    expect(schemaOf({ ...again, $defs: { A: { anyOf } } })).toMatchObject({ properties: city.properties });
  });
});
