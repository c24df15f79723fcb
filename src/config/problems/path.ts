/** Where a value stands in an agent file: keys of maps and positions in lists. */
export type Path = readonly (string | number)[];

/** For people: `llm.script[0].when`, `mcpServers["my server"].command`. */
export function formatPath(path: Path): string {
  return path.reduce<string>((text, segment) => {
    if (typeof segment === 'number') return `${text}[${segment}]`;
    if (!/^[\w-]+$/.test(segment)) return `${text}[${JSON.stringify(segment)}]`;
    return text === '' ? segment : `${text}.${segment}`;
  }, '');
}

/** As a key of a map: two paths are the same exactly when their keys are. */
export function pathKey(path: Path): string {
  return JSON.stringify(path);
}

/** A path as zod reports it. The data comes out of YAML, which has no symbols. */
export function toPath(path: readonly PropertyKey[]): Path {
  return path.map((segment) => (typeof segment === 'symbol' ? String(segment) : segment));
}

/** The value at a path, or undefined. */
export function valueAt(data: unknown, path: Path): unknown {
  return path.reduce<unknown>((value, segment) => {
    if (Array.isArray(value)) return value[Number(segment)];
    return isMap(value) && Object.hasOwn(value, segment) ? value[segment] : undefined;
  }, data);
}

/** A copy of the data in which every value that is no map and no list went through `rewrite`. */
export function mapScalars(
  data: unknown,
  rewrite: (scalar: unknown, path: Path) => unknown,
  path: Path = [],
): unknown {
  if (Array.isArray(data)) return data.map((item, index) => mapScalars(item, rewrite, [...path, index]));
  if (!isMap(data)) return rewrite(data, path);
  return Object.fromEntries(
    Object.entries(data).map(([key, item]) => [key, mapScalars(item, rewrite, [...path, key])]),
  );
}

export function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
