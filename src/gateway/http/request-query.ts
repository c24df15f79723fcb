import type { z } from 'zod';
import type { HttpRequest } from '../../ports/web-server.ts';
import { queryFields } from '../requests/query-fields.ts';
import { parseFields } from '../requests/request-fields.ts';

/** Parses the query of the URL. Throws a `ServiceError` that names the wrong field. */
export function parseQuery<S extends z.ZodType>(schema: S, { query }: HttpRequest): z.output<S> {
  return parseFields(schema, queryFields(schema, query));
}
