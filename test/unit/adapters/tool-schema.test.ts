import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { acceptableTool } from '../../../src/model-http/provider/tool-schema.ts';

function schemaOf(inputSchema: Record<string, unknown>): Readonly<Record<string, unknown>> {
  return acceptableTool({ name: 't', description: '', inputSchema }).inputSchema;
}

const city = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const place = {
  type: 'object',
  properties: { lat: { type: 'number' }, lon: { type: 'number' }, city: { type: 'string' } },
  required: ['lat', 'lon'],
};

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

  it('is worked out once for each schema', () => {
    expect(schemaOf(city)).toBe(schemaOf(city));
  });

  it('requires no property that it does not have', () => {
    expect(schemaOf({ ...city, required: ['city', 'country'] })).toEqual(city);
  });

  it('has a description of 1,024 characters at most', () => {
    const { description } = acceptableTool({ name: 't', description: 'x'.repeat(2_000), inputSchema: {} });
    expect(description).toHaveLength(1_024);
    expect(description.endsWith('x…')).toBe(true);
    expect(acceptableTool({ name: 't', description: 'short', inputSchema: {} }).description).toBe('short');
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
