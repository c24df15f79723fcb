import { describe, expect, it } from 'vitest';
import { ANYONE } from '../../../src/core/request/request-context.ts';
import type { SchemaVerdict } from '../../../src/ports/schema-check.ts';
import { requireUsableSchema } from '../../../src/runtime/requests/usable-schema.ts';

/** @returns the check of a message with a schema, for which the thread has this verdict. */
const check = (verdict: SchemaVerdict, schema: object = { title: 'a' }) =>
  requireUsableSchema({ output: { name: 'reply', schema: { ...schema } } }, ANYONE, {
    ofClient: async () => verdict,
  });

describe('the schema of a message', () => {
  it('is refused if no reply could fit it', async () => {
    const refusal = { code: 'INVALID_REQUEST', details: { field: 'outputSchema' } };
    await expect(check({ unusable: 'it is none' })).rejects.toMatchObject(refusal);
    await expect(check({}, { title: 'a'.repeat(100_000) })).rejects.toMatchObject(refusal);
  });

  it('is checked with the reply only, if it cannot be checked in time', async () => {
    await expect(check({ issue: 'it could not be checked' })).resolves.toBeUndefined();
  });

  it('is no matter where there is none', () => {
    const schemas = { ofClient: () => expect.unreachable('there is no schema') };
    expect(requireUsableSchema({}, ANYONE, schemas)).toBeUndefined();
  });
});
