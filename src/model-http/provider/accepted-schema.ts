import { withDescribedBounds, withPortablePatterns } from './described-bounds.ts';
import type { Schema } from './nested-schemas.ts';
import { openApiSchema } from './open-api-schema.ts';
import type { ProviderDefaults } from './providers.ts';

export type SchemaRules = Pick<ProviderDefaults, 'openApiSchemas' | 'describesBounds'>;

/** A schema of a tool or a reply without the keywords for which the provider refuses a request. */
export function acceptedSchema(schema: Schema, { openApiSchemas, describesBounds }: SchemaRules): Schema {
  const readable = describesBounds ? withDescribedBounds(schema) : withPortablePatterns(schema);
  return openApiSchemas ? openApiSchema(readable) : readable;
}
