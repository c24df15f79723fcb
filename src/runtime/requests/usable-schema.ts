import { ServiceError } from '../../core/errors.ts';
import type { TurnOptions } from '../../core/turn/turn-options.ts';
import type { SchemaCheck } from '../../ports/schema-check.ts';

/** A larger one would hold up the thread that checks the schemas of all clients. */
const MOST_CHARACTERS = 100_000;

/**
 * Rejects with `INVALID_REQUEST` if no reply could fit the schema that a message brings, before a model is asked in vain.
 * Undefined, at once, for a message without a schema.
 */
export function requireUsableSchema(
  options: TurnOptions | undefined,
  schemas: Pick<SchemaCheck, 'ofClient'>,
): Promise<void> | undefined {
  return options?.output && requireUsable(options.output.schema, schemas);
}

async function requireUsable(
  schema: Readonly<Record<string, unknown>>,
  schemas: Pick<SchemaCheck, 'ofClient'>,
): Promise<void> {
  const { length } = JSON.stringify(schema);
  const unusable =
    length > MOST_CHARACTERS
      ? `it has ${length} characters, and may have ${MOST_CHARACTERS}`
      : (await schemas.ofClient(schema, null)).unusable;
  if (unusable === undefined) return;
  throw new ServiceError('INVALID_REQUEST', `The schema for the reply cannot be used: ${unusable}.`, {
    field: 'outputSchema',
    issue: unusable,
    suggestion: 'Send a valid JSON Schema of reasonable size.',
  });
}
