import { z } from 'zod';

export type JsonSchema = z.core.JSONSchema.BaseSchema;

/**
 * A schema as a client is to write it: what has a default may be left out. Responses have no defaults, and
 * say nothing of further fields, so that a newer service may send more.
 */
export function requestSchema(schema: z.ZodType, target: 'draft-2020-12' | 'draft-7'): JsonSchema {
  return bare(z.toJSONSchema(schema, { io: 'input', target, override }));
}

/** A parameter as it is meant: a number, not the digits it is written with. */
export function parameterSchema(schema: z.ZodType): JsonSchema {
  return bare(z.toJSONSchema(schema, { io: 'output', override }));
}

/** Schemas that have a name, each pointing to the others where it holds them. */
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
    this.all = Object.fromEntries(Object.entries(schemas).map(([id, schema]) => [id, bare(schema)]));
  }

  /** A pointer to it, or the schema itself where it has no name. */
  of(schema: z.ZodType): JsonSchema {
    const name = this.#names.get(schema);
    return name === undefined ? requestSchema(schema, 'draft-2020-12') : { $ref: reference(name) };
  }
}

function reference(name: string): string {
  return `#/components/schemas/${name}`;
}

function bare({ $schema, $id, ...schema }: JsonSchema): JsonSchema {
  return schema;
}

/** Leaves out what zod adds and no reader needs. */
function override({ jsonSchema }: { jsonSchema: JsonSchema }): void {
  // It says that TypeScript may not change the value.
  delete jsonSchema.readOnly;
  delete jsonSchema.propertyNames;
  // The pattern of a time is longer than all else that is said of it.
  if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
}
