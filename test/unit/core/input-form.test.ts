import { expect, it } from 'vitest';
import { filledForm, InputForm } from '../../../src/core/tool-call/input-form.ts';

it('takes a field that is named like a property of every object for one that was not given', () => {
  const form = InputForm.parse({
    type: 'object',
    properties: { constructor: { type: 'string', default: 'none' }, valueOf: { type: 'string' } },
  });
  expect(filledForm(form, {})).toEqual({ constructor: 'none' });
  expect(() => filledForm({ ...form, required: ['valueOf'] }, {})).toThrow(
    expect.objectContaining({
      code: 'MISSING_FIELD',
      details: expect.objectContaining({ field: 'content.valueOf' }),
    }),
  );
});
