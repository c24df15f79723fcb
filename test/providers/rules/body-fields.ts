/** A JSON object whose fields are yet to be looked at. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The object in this field; an empty one when something else is there. */
export function objectIn(fields: JsonObject, name: string): JsonObject {
  const value = fields[name];
  return isJsonObject(value) ? value : {};
}

/** The objects in the list in this field; none when something else is there. */
export function objectsIn(fields: JsonObject, name: string): readonly JsonObject[] {
  const value = fields[name];
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** The text in this field; the empty string when something else is there. */
export function textIn(fields: JsonObject, name: string): string {
  const value = fields[name];
  return typeof value === 'string' ? value : '';
}

export function isJsonText(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** An object of a list, with its place there. */
export interface Placed {
  readonly place: number;
  readonly one: JsonObject;
}

/** The objects in the list in this field with their places, which error bodies name. */
export function placedIn(fields: JsonObject, name: string): readonly Placed[] {
  const value: unknown = fields[name];
  if (!Array.isArray(value)) return [];
  return value.flatMap((one: unknown, place) => (isJsonObject(one) ? [{ place, one }] : []));
}

/** What is found in the first of many that has it. */
export function firstOf<One, Found>(
  many: readonly One[],
  find: (one: One) => Found | undefined,
): Found | undefined {
  for (const one of many) {
    const found = find(one);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** What stands under this keyword in a schema and in those within. No tool of the tests has a property of such a name. */
export function valuesOf(schema: unknown, keyword: string): unknown[] {
  if (Array.isArray(schema)) return schema.flatMap((one) => valuesOf(one, keyword));
  if (!isJsonObject(schema)) return [];
  return Object.entries(schema).flatMap(([key, one]) => (key === keyword ? [one] : valuesOf(one, keyword)));
}

/** Whether a schema, or one of its properties or items, is a list that does not say what its items are. */
export function hasOpenList(schema: JsonObject): boolean {
  if (schema.type === 'array' && !isJsonObject(schema.items)) return true;
  const within = [...Object.values(objectIn(schema, 'properties')), schema.items];
  return within.filter(isJsonObject).some(hasOpenList);
}

/** The first pattern in a schema that Python cannot read. It knows no `\\p{…}`. */
export function unreadablePattern(schema: unknown): unknown {
  return valuesOf(schema, 'pattern').find((pattern) => /\\p\{/i.test(String(pattern)));
}
