import type { z } from 'zod';
import { knownKeys } from '../../config/problems/schema-keys.ts';
import { ServiceError } from '../../core/errors.ts';

/**
 * The parameters of a query, by their names. Throws `INVALID_REQUEST` for one of the schema that has two values: whichever
 * was taken, its sender might have meant the other. The same value twice is one.
 */
export function queryFields(schema: z.ZodType, query: string): Record<string, string> {
  const fields = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(query)) {
    const before = fields.get(name);
    if (before !== undefined && before !== value && isKnown(schema, name)) throw givenTwice(name);
    fields.set(name, value);
  }
  return Object.fromEntries(fields);
}

/** `agent` may stand in the query of every request. */
function isKnown(schema: z.ZodType, name: string): boolean {
  return name === 'agent' || knownKeys(schema, {}, []).includes(name);
}

function givenTwice(name: string): ServiceError {
  return new ServiceError('INVALID_REQUEST', `The parameter ${name} is given twice.`, {
    field: name,
    issue: 'is given twice, with different values',
    suggestion: `Send ${name} once.`,
  });
}
