import { type Owner, ownPrefix } from '../../core/access/session-names.ts';
import { ServiceError } from '../../core/errors.ts';
import type { TurnOptions } from '../../core/turn/turn-options.ts';
import type { SchemaCheck } from '../../ports/schema-check.ts';

/** A larger one would hold up the thread that checks the schemas of all clients. */
const MAX_CHARACTERS = 100_000;

type Schemas = Pick<SchemaCheck, 'ofClient'>;

/**
 * Checks the schema that a message brings, before a model is asked in vain. Rejects with `INVALID_REQUEST` if no reply
 * could fit it. Undefined, at once, for a message without a schema.
 */
export function requireUsableSchema(
  options: TurnOptions | undefined,
  client: Owner,
  schemas: Schemas,
): Promise<void> | undefined {
  const schema = options?.output?.schema;
  return schema && requireUsable(schema, client, schemas);
}

/** What cannot be checked in time is checked with the reply. */
async function requireUsable(
  schema: Readonly<Record<string, unknown>>,
  client: Owner,
  schemas: Schemas,
): Promise<void> {
  const { length } = JSON.stringify(schema);
  const unusable =
    length > MAX_CHARACTERS
      ? `it has ${length} characters, and may have ${MAX_CHARACTERS}`
      : (await schemas.ofClient(schema, null, ownPrefix(client))).unusable;
  if (unusable === undefined) return;
  throw new ServiceError('INVALID_REQUEST', `The schema for the reply cannot be used: ${unusable}.`, {
    field: 'outputSchema',
    issue: unusable,
    suggestion: 'Send a valid JSON Schema of reasonable size.',
  });
}
