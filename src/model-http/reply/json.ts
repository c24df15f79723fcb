/** What JSON has where it has an object: nothing is known of its fields. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The empty string where there is none. */
export function stringIn(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function objectIn(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** A count that is none is no reason to lose a reply. */
export function countIn(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/** Undefined when the text is no JSON. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function isJson(text: string): boolean {
  return parsedJson(text) !== undefined;
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
