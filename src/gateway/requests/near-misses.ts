import type { z } from 'zod';
import { closest } from '../../config/problems/closest.ts';
import { knownKeys } from '../../config/problems/schema-keys.ts';
import { ServiceError } from '../../core/errors.ts';

/** Fields that every request may have, besides those of its schema. */
const COMMON = ['agent', 'ticket'];
/** Shorter names resemble too many others by chance, such as `t`, with which pages keep caches off. */
const MIN_CHARACTERS = 4;

/**
 * Throws `INVALID_REQUEST` for an unknown field that was probably meant to be a known one, which is absent: ignored, it
 * would do something else than its client wants. Other unknown fields are ignored.
 */
export function refuseNearMiss(schema: z.ZodType, value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  const known = knownKeys(schema, value, []);
  for (const field of Object.keys(value)) {
    if (known.includes(field) || COMMON.includes(field) || field.length < MIN_CHARACTERS) continue;
    const absent = known.filter((name) => !Object.hasOwn(value, name));
    const meant = closest(field, absent);
    if (meant !== undefined) throw unknownField(field, meant);
  }
}

function unknownField(field: string, meant: string): ServiceError {
  return new ServiceError('INVALID_REQUEST', `The field ${field} is unknown; did you mean ${meant}?`, {
    field,
    issue: 'the field is unknown',
    suggestion: `Write ${meant} instead.`,
  });
}
