import type { z } from 'zod';
import { mapScalars, pathKey, toPath } from '../problems/path.ts';
import type { Expansion } from './expand.ts';
import { spelledScalar } from './spelled-scalar.ts';
import type { YamlSource } from './yaml-source.ts';

/**
 * Reads the value of a single unquoted reference (`port: $PORT`) as YAML would, if the schema refuses a string
 * there. An API key of digits stays a string.
 */
export function readScalars(schema: z.ZodType, expansion: Expansion, { isPlain }: YamlSource): unknown {
  const { value, expanded } = expansion;
  const refused = new Set(
    (schema.safeParse(value).error?.issues ?? [])
      .filter(({ code }) => code === 'invalid_type' || code === 'invalid_union')
      .map((issue) => toPath(issue.path))
      .filter((path) => expanded.get(pathKey(path))?.whole === true && isPlain(path))
      .map(pathKey),
  );
  if (refused.size === 0) return value;
  return mapScalars(value, (scalar, path) =>
    typeof scalar === 'string' && refused.has(pathKey(path)) ? spelledScalar(scalar) : scalar,
  );
}
