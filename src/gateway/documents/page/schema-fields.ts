import { isJsonObject } from '../../../core/json-object.ts';
import type { JsonSchema } from '../json-schema.ts';

/** One row in the table of a schema. */
export interface Field {
  /** Such as `servers[].name`. */
  readonly name: string;
  readonly type: string;
  /** Name of the schema that the type refers to. */
  readonly reference?: string;
  readonly required: boolean;
  readonly description: string;
}

/** The fields of a value, or of one of its alternatives. */
export interface Form {
  /** What distinguishes this form, such as `type: stdio`. */
  readonly label: string;
  readonly fields: readonly Field[];
}

/** The tables of a schema. Named schemas inside it are linked, not repeated. */
export function formsOf(schema: JsonSchema): Form[] {
  const alternatives = alternativesOf(schema);
  if (alternatives.length > 0) return alternatives.flatMap(formsOf);
  return [{ label: labelOf(schema), fields: fieldsOf(schema, '') }];
}

/** The fields of a schema and of its parts, with their paths. */
function fieldsOf(schema: JsonSchema, path: string): Field[] {
  const merged = (schema.allOf ?? []).flatMap((part) =>
    part.$ref === undefined ? fieldsOf(part, path) : [reference(part, path)],
  );
  const own = Object.entries(schema.properties ?? {}).flatMap(([name, property]) =>
    isJsonObject(property)
      ? fieldOf(property, joined(path, name), schema.required?.includes(name) ?? false)
      : [],
  );
  return [...merged, ...own];
}

function fieldOf(schema: JsonSchema, name: string, required: boolean): Field[] {
  const { items } = schema;
  if (isJsonObject(items) && items.$ref === undefined)
    return [row(schema, name, required), ...fieldsOf(items, `${name}[]`)];
  return [row(schema, name, required), ...innerFields(schema, name)];
}

function innerFields(schema: JsonSchema, name: string): Field[] {
  const alternatives = alternativesOf(schema);
  if (alternatives.length === 0) return fieldsOf(schema, name);
  const fields = alternatives.flatMap((alternative) => fieldsOf(alternative, name));
  // A field that several alternatives share is shown once. It is required only if all alternatives require it.
  return [...Map.groupBy(fields, (field) => field.name).values()].flatMap((same) => {
    const [first] = same;
    const required = same.length === alternatives.length && same.every((field) => field.required);
    return first ? [{ ...first, required }] : [];
  });
}

function row(schema: JsonSchema, name: string, required: boolean): Field {
  const target = referenceOf(schema);
  const { description = '' } = schema;
  return {
    name,
    type: typeOf(schema),
    ...(target !== undefined && { reference: target }),
    required,
    description,
  };
}

function reference(schema: JsonSchema, path: string): Field {
  return { ...row(schema, path === '' ? '…' : `${path}.…`, true), description: 'All fields of this type.' };
}

/** In a few words: `string`, `integer ≥ 1`, `"png" | "gif"`, `Tool[]`. */
export function typeOf(schema: JsonSchema): string {
  const { $ref, const: constant, enum: values, not, items, default: standard } = schema;
  if (not !== undefined) return 'not accepted';
  const suffix = standard === undefined ? '' : `, default ${JSON.stringify(standard)}`;
  if ($ref !== undefined) return nameIn($ref);
  if (constant !== undefined) return JSON.stringify(constant);
  if (values) return values.map((value) => JSON.stringify(value)).join(' | ') + suffix;
  const alternatives = alternativesOf(schema);
  if (alternatives.length > 0) return [...new Set(alternatives.map(typeOf))].join(' | ');
  if (isJsonObject(items)) return `${typeOf(items)}[]`;
  if (schema.allOf) return 'object';
  return simpleType(schema) + suffix;
}

function simpleType({ type, minimum, maximum, format }: JsonSchema): string {
  const kind = Array.isArray(type) ? type.join(' | ') : (type ?? 'any');
  const bounds = [minimum === undefined ? '' : ` ≥ ${minimum}`, maximum === undefined ? '' : ` ≤ ${maximum}`];
  return format === undefined ? kind + bounds.join('') : `${kind} (${format})`;
}

function labelOf({ properties = {} }: JsonSchema): string {
  return Object.entries(properties)
    .flatMap(([name, property]) =>
      isJsonObject(property) && property.const !== undefined ? [`${name}: ${String(property.const)}`] : [],
    )
    .join(', ');
}

function alternativesOf({ oneOf, anyOf }: JsonSchema): JsonSchema[] {
  return [...(oneOf ?? []), ...(anyOf ?? [])];
}

/** Name of the schema of a value, or of the elements of a list. */
function referenceOf({ $ref, items }: JsonSchema): string | undefined {
  if ($ref !== undefined) return nameIn($ref);
  return isJsonObject(items) ? referenceOf(items) : undefined;
}

export function nameIn($ref: string): string {
  return $ref.split('/').at(-1) ?? $ref;
}

function joined(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}
