import { isJsonObject, type JsonObject } from '../../core/json-object.ts';

/** The value if it is a string, otherwise the empty string. */
export function stringIn(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function objectIn(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** Undefined if the value is not a count. A wrong count must not fail a reply. */
export function countIn(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/** Undefined if the text is not JSON. */
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

/** Adds fields to a body. The fields of `more` win; two objects are merged one level deep; null removes a field. */
export function mergedBody(body: object, more: JsonObject | undefined): object {
  if (more === undefined) return body;
  const merged: Record<string, unknown> = { ...body };
  for (const [key, value] of Object.entries(more)) {
    const known = merged[key];
    if (value === null) delete merged[key];
    else merged[key] = isJsonObject(known) && isJsonObject(value) ? { ...known, ...value } : value;
  }
  return merged;
}
