import { z } from 'zod';
import { isJsonObject } from '../../core/json-object.ts';
import { type Path, valueAt } from './path.ts';

/** The keys that the schema lists for the map at this path of the data; none if it lists none. */
export function knownKeys(schema: unknown, data: unknown, path: Path): string[] {
  const found = path.reduce<unknown>(
    (current, segment, index) => step(resolve(current, valueAt(data, path.slice(0, index))), segment),
    schema,
  );
  const place = resolve(found, valueAt(data, path));
  return place instanceof z.ZodObject ? Object.keys(place.shape) : [];
}

function step(schema: unknown, segment: string | number): unknown {
  if (schema instanceof z.ZodObject) return schema.shape[segment];
  if (schema instanceof z.ZodRecord) return schema.valueType;
  if (schema instanceof z.ZodArray) return schema.element;
  return undefined;
}

/** Unwraps optional and default schemas, and picks the option of a union that the data is meant for. */
function resolve(schema: unknown, data: unknown): unknown {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault) {
    return resolve(schema.unwrap(), data);
  }
  if (schema instanceof z.ZodPipe) {
    // A preprocessed value is described by the schema behind the preprocessing.
    return schema.in instanceof z.ZodTransform
      ? resolve(schema.out, z.safeParse(schema.in, data).data ?? data)
      : resolve(schema.in, data);
  }
  if (schema instanceof z.ZodDiscriminatedUnion) return discriminated(schema, data);
  if (!(schema instanceof z.ZodUnion)) return schema;
  if (Array.isArray(data)) return onlyOption(schema, z.ZodArray);
  return isJsonObject(data) ? onlyOption(schema, z.ZodObject) : schema;
}

function discriminated(schema: z.ZodDiscriminatedUnion, data: unknown): unknown {
  const { discriminator } = schema.def;
  const named = isJsonObject(data) ? data[discriminator] : undefined;
  return schema.options.find(
    (option) => option instanceof z.ZodObject && z.safeParse(option.shape[discriminator], named).success,
  );
}

/** A union often has a short form beside its map or its list. Among several of them, none can be picked. */
function onlyOption({ options }: z.ZodUnion, kind: typeof z.ZodObject | typeof z.ZodArray): unknown {
  const found = options.filter((option) => option instanceof kind);
  return found.length === 1 ? found[0] : undefined;
}
