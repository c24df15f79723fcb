import { expect, it } from 'vitest';
import { withAcceptedNames } from '../../../src/adapters/anthropic/property-names.ts';

const text = { type: 'string' };

it('a schema that Anthropic accepts stays as it is', () => {
  const schema = { type: 'object', properties: { 'a.b-c_1': text }, required: ['a.b-c_1'] };
  expect(withAcceptedNames(schema)).toEqual(schema);
});

it('properties whose names Anthropic refuses are named in the description instead, at every depth', () => {
  const long = 'x'.repeat(65);
  const where = {
    type: 'object',
    properties: { 'filter[id]': text, id: text },
    required: ['filter[id]', 'id'],
  };
  const schema = {
    type: 'object',
    description: 'Finds.',
    properties: { $filter: text, [long]: text, where, rows: { type: 'array', items: where } },
    required: ['$filter'],
  };
  const accepted = {
    type: 'object',
    description: 'It also takes: "filter[id]".',
    properties: { id: text },
    required: ['id'],
  };
  expect(withAcceptedNames(schema)).toEqual({
    type: 'object',
    description: `Finds. It also takes: "$filter", "${long}".`,
    properties: { where: accepted, rows: { type: 'array', items: accepted } },
    required: [],
  });
});
