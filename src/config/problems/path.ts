import { isJsonObject } from '../../core/json-object.ts';

/** The place of a value in an agent file: keys of maps and positions in lists. */
export type Path = readonly (string | number)[];

/** For people: `llm.script[0].when`, `mcpServers["my server"].command`. */
export function formatPath(path: Path): string {
  return path.reduce<string>((text, segment) => {
    if (typeof segment === 'number') return `${text}[${segment}]`;
    if (!/^[\w-]+$/.test(segment)) return `${text}[${JSON.stringify(segment)}]`;
    return text === '' ? segment : `${text}.${segment}`;
  }, '');
}

/** A path as a key for maps and sets. Equal paths have equal keys. */
export function pathKey(path: Path): string {
  return JSON.stringify(path);
}

/** Converts a path of zod. The data comes from YAML, which has no symbols. */
export function toPath(path: readonly PropertyKey[]): Path {
  return path.map((segment) => (typeof segment === 'symbol' ? String(segment) : segment));
}

/** The value at a path, or undefined. */
export function valueAt(data: unknown, path: Path): unknown {
  return path.reduce<unknown>((value, segment) => {
    if (Array.isArray(value)) return value[Number(segment)];
    return isJsonObject(value) && Object.hasOwn(value, segment) ? value[segment] : undefined;
  }, data);
}

/** Copies the data and rewrites every value that is neither a map nor a list. */
export function mapScalars(
  data: unknown,
  rewrite: (scalar: unknown, path: Path) => unknown,
  path: Path = [],
): unknown {
  if (Array.isArray(data)) return data.map((item, index) => mapScalars(item, rewrite, [...path, index]));
  if (!isJsonObject(data)) return rewrite(data, path);
  return Object.fromEntries(
    Object.entries(data).map(([key, item]) => [key, mapScalars(item, rewrite, [...path, key])]),
  );
}
