import type { JsonObject } from '../../../core/json-object.ts';
import { headerValue } from '../client/request-headers.ts';

const KEY = 'x-mcp-header';
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const TYPES = ['string', 'integer', 'boolean'];

/** An argument that is repeated as a header of HTTP. */
export interface ParamHeader {
  readonly name: string;
  /** From the arguments to the value. */
  readonly path: readonly string[];
}

/** A tool whose schema marks arguments for headers in a way that MCP forbids. */
export class ParamHeaderError extends Error {
  override readonly name = 'ParamHeaderError';
}

/** The arguments that the schema of a tool marks with `x-mcp-header`. Throws if a mark is not valid. */
export function paramHeaders(inputSchema: JsonObject): readonly ParamHeader[] {
  const found = declared(inputSchema, []);
  // Only a chain of `properties` leads to one value. Under `items`, `anyOf`, `$defs` and others a mark is in doubt.
  if (found.length !== marks(inputSchema)) throw new ParamHeaderError(`${KEY} is only allowed on properties`);
  const names = new Set(found.map(({ name }) => name.toLowerCase()));
  if (names.size !== found.length) throw new ParamHeaderError(`the names of ${KEY} must differ`);
  return found;
}

/** The headers of one call. A value that is missing, null or of another type has none. */
export function paramHeaderValues(
  headers: readonly ParamHeader[],
  args: unknown,
): Readonly<Record<string, string>> {
  const entries = headers.flatMap(({ name, path }) => {
    const text = textOf(path.reduce(member, args));
    return text === undefined ? [] : [[`Mcp-Param-${name}`, headerValue(text)] as const];
  });
  return Object.fromEntries(entries);
}

function declared(schema: unknown, path: readonly string[]): ParamHeader[] {
  const name = path.length === 0 ? undefined : member(schema, KEY);
  const own = name === undefined ? [] : [{ name: validName(name, schema), path }];
  const properties = member(schema, 'properties');
  if (typeof properties !== 'object' || properties === null) return own;
  return [...own, ...Object.entries(properties).flatMap(([key, child]) => declared(child, [...path, key]))];
}

function validName(name: unknown, schema: unknown): string {
  if (typeof name !== 'string' || !TOKEN.test(name))
    throw new ParamHeaderError(`${KEY} must be the name of a header`);
  if (!TYPES.some((type) => type === member(schema, 'type')))
    throw new ParamHeaderError(`${KEY} is only allowed on a string, an integer or a boolean`);
  return name;
}

/** How many marks there are at all. A property may be named like the mark, and is none. */
function marks(schema: unknown): number {
  if (Array.isArray(schema)) return schema.reduce((sum: number, item) => sum + marks(item), 0);
  if (typeof schema !== 'object' || schema === null) return 0;
  return Object.entries(schema).reduce((sum, [key, value]) => {
    if (DATA.includes(key)) return sum;
    if (NAMED.includes(key) && typeof value === 'object' && value !== null)
      return sum + marks(Object.values(value));
    return sum + (key === KEY ? 1 : marks(value));
  }, 0);
}

/** Keywords with values instead of schemas. */
const DATA = ['default', 'const', 'enum', 'examples'];
/** Keywords with schemas by name. */
const NAMED = ['properties', 'patternProperties', 'dependentSchemas', '$defs', 'definitions'];

function member(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return Object.entries(value).find(([name]) => name === key)?.[1];
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean' || Number.isSafeInteger(value)) return String(value);
  return undefined;
}
