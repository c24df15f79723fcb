import type { z } from 'zod';
import type { HttpRequest } from '../../ports/web-server.ts';
import { parseFields } from '../requests/request-fields.ts';

/** The query of the URL, checked. Throws the `ServiceError` that names the field. */
export function parseQuery<S extends z.ZodType>(schema: S, { query }: HttpRequest): z.output<S> {
  return parseFields(schema, Object.fromEntries(new URLSearchParams(query)));
}
