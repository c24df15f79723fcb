import { z } from 'zod';

export type JsonSchema = z.core.JSONSchema.BaseSchema;

/**
 * The schema of what a client writes: fields with a default are optional. It also fits responses: they have
 * no defaults, and further fields are allowed, so that a newer service may send more.
 */
function requestSchema(schema: z.ZodType, target: 'draft-2020-12' | 'draft-7'): JsonSchema {
  return withoutIds(z.toJSONSchema(schema, { io: 'input', target, override }));
}

/** The schema of a parsed parameter: a number, not its digits. */
export function parameterSchema(schema: z.ZodType): JsonSchema {
  return withoutIds(z.toJSONSchema(schema, { io: 'output', override }));
}

/** A schema for a document of its own kind: what it defines for itself becomes a named schema of the document. */
export function hoistedSchema(schema: z.ZodType): { schema: JsonSchema; named: Record<string, JsonSchema> } {
  const { definitions = {}, ...rest } = toDocument(requestSchema(schema, 'draft-7'));
  return { schema: rest, named: definitions };
}

function toDocument(schema: JsonSchema): JsonSchema & { definitions?: Record<string, JsonSchema> } {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/definitions/', `"${reference('')}`));
}

/** Named schemas, which refer to each other by `$ref`. */
export class NamedSchemas {
  readonly #names = new Map<z.ZodType, string>();
  readonly all: Readonly<Record<string, JsonSchema>>;

  constructor(named: Readonly<Record<string, z.ZodType>>) {
    const registry = z.registry<{ id: string }>();
    for (const [id, schema] of Object.entries(named)) {
      this.#names.set(schema, id);
      registry.add(schema, { id });
    }
    const { schemas } = z.toJSONSchema(registry, { io: 'input', uri: reference, override });
    this.all = Object.fromEntries(Object.entries(schemas).map(([id, schema]) => [id, withoutIds(schema)]));
  }

  /** A `$ref` to the schema, or the schema itself if it has no name. */
  of(schema: z.ZodType): JsonSchema {
    const name = this.#names.get(schema);
    return name === undefined ? requestSchema(schema, 'draft-2020-12') : { $ref: reference(name) };
  }
}

function reference(name: string): string {
  return `#/components/schemas/${name}`;
}

function withoutIds({ $schema, $id, ...schema }: JsonSchema): JsonSchema {
  return schema;
}

/** Removes keywords that zod adds and no reader needs. */
function override({ jsonSchema }: { jsonSchema: JsonSchema }): void {
  // `readonly()` concerns TypeScript types only.
  delete jsonSchema.readOnly;
  delete jsonSchema.propertyNames;
  // The pattern of a time is long and only repeats the format.
  if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
}
