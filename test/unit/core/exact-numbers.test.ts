import { expect, it } from 'vitest';
import { changedNumber } from '../../../src/core/exact-numbers.ts';

it.each([
  ['{"id":9007199254740993}', '9007199254740993'],
  ['{"ids":[1,-1234567890123456789]}', '-1234567890123456789'],
  ['{"a":"1e400","b":1e400}', '1e400'],
  ['{"a":1E+400}', '1E+400'],
])('finds the number of %s that would be another one', (json, number) => {
  expect(changedNumber(json)).toBe(number);
});

it.each([
  ['{"id":"9007199254740993"}'],
  ['{"a":"say \\"9007199254740993"}'],
  ['{"id":9007199254740992}'],
  ['{"id":1152921504606846976}'],
  ['{"a":0.12345678901234567890}'],
  ['{"a":1e-400,"b":1e300}'],
  ['{"a":1e21,"b":-0}'],
])('finds none in %s', (json) => {
  expect(changedNumber(json)).toBeUndefined();
});
