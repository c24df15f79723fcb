/** What JSON has where it has an object: nothing is known of its fields. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The empty string where there is none. */
export function stringIn(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The fields of `more` win. Where both sides have an object they are merged, one level deep; null takes a field away. */
export function mergedBody(body: object, more: JsonObject | undefined): object {
  if (more === undefined) return body;
  const merged: Record<string, unknown> = { ...body };
  for (const [key, value] of Object.entries(more)) {
    const known = merged[key];
    if (value === null) delete merged[key];
    else merged[key] = isObject(known) && isObject(value) ? { ...known, ...value } : value;
  }
  return merged;
}
