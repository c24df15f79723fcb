import { z } from 'zod';
import { ServiceError } from '../../core/errors.ts';
import { OutputFormat } from '../../core/turn/output-format.ts';
import { optional } from '../../wire/requests.ts';

/** What a form of the type `json_schema` says. */
export const NamedSchema = z.object({
  name: OutputFormat.shape.name,
  schema: optional(OutputFormat.shape.schema),
  strict: optional(z.boolean()),
});

/** The form that a request wants. @param named the fields of the type `json_schema`. */
export function formatOf<S extends z.ZodRawShape>(named: S) {
  return z.discriminatedUnion(
    'type',
    [
      z.object({ type: z.literal('text') }),
      z.object({ type: z.literal('json_object') }),
      z.object({ type: z.literal('json_schema'), ...named }),
    ],
    'must be text, json_object or json_schema',
  );
}

/** As responses have it, and `outputFormat` takes it. */
export const AskedFormat = formatOf(NamedSchema.shape);
export type AskedFormat = z.infer<typeof AskedFormat>;

export function outputFormat(format: AskedFormat | undefined): OutputFormat | undefined {
  switch (format?.type) {
    case undefined:
    case 'text':
      return undefined;
    case 'json_object':
      return { schema: { type: 'object' }, name: 'output' };
    case 'json_schema': {
      const { name, schema = {}, strict } = format;
      return { schema, name, ...(strict !== undefined && { strict }) };
    }
    default:
      return format satisfies never;
  }
}

/** Has a refusal of the schema name it as the request does. @param field of the request that has the schema. */
export async function withSchemaNamed<T>(field: string, start: () => Promise<T>): Promise<T> {
  try {
    return await start();
  } catch (error) {
    if (!(error instanceof ServiceError) || error.details.field !== 'outputSchema') throw error;
    throw new ServiceError(error.code, error.message, { ...error.details, field }, error);
  }
}
