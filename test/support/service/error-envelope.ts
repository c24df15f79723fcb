import { expect } from 'vitest';
import { z } from 'zod';
import { ErrorBody } from '../../../src/core/errors.ts';

/** ISO 8601 in UTC with milliseconds. */
export const Timestamp = z.iso.datetime({ precision: 3 });

/** Exactly the fields of the interface. */
const Envelope = z.strictObject({
  success: z.literal(false),
  error: ErrorBody.strict(),
  timestamp: Timestamp,
});

/** The error in a REST answer, which must be the whole envelope and nothing else. */
export function parseEnvelope(text: string): ErrorBody {
  const { error } = Envelope.parse(JSON.parse(text));
  expect(error.message).not.toBe('');
  return error;
}

/** The error of a response that must have this status. */
export async function errorOf(response: Response, status: number): Promise<ErrorBody> {
  const text = await response.text();
  expect({ status: response.status, text }).toEqual({ status, text });
  expect(response.headers.get('Content-Type')).toBe('application/json');
  return parseEnvelope(text);
}
