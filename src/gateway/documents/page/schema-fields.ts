import type { JsonSchema } from '../json-schema.ts';

/** One row of the table that shows a schema. */
export interface Field {
  /** Such as `servers[].name`. */
  readonly name: string;
  readonly type: string;
  /** The named schema that the type is of. */
  readonly reference?: string;
  readonly required: boolean;
  readonly description: string;
}

/** The fields of a value, or of one of its forms where it has several. */
export interface Form {
  /** What tells this form from the others, such as `type: stdio`. */
  readonly label: string;
  readonly fields: readonly Field[];
}

/** What a schema says, as tables. Named schemas inside are pointed to, not shown again. */
export function formsOf(schema: JsonSchema): Form[] {
  const alternatives = alternativesOf(schema);
  if (alternatives.length > 0) return alternatives.flatMap(formsOf);
  return [{ label: labelOf(schema), fields: fieldsOf(schema, '') }];
}

/** Fields of a schema and of all that it is made of, with the path to them. */
function fieldsOf(schema: JsonSchema, path: string): Field[] {
  const merged = (schema.allOf ?? []).flatMap((part) =>
    part.$ref === undefined ? fieldsOf(part, path) : [reference(part, path)],
  );
  const own = Object.entries(schema.properties ?? {}).flatMap(([name, property]) =>
    isSchema(property) ? fieldOf(property, joined(path, name), schema.required?.includes(name) ?? false) : [],
  );
  return [...merged, ...own];
}

function fieldOf(schema: JsonSchema, name: string, required: boolean): Field[] {
  const { items } = schema;
  if (isSchema(items) && items.$ref === undefined)
    return [row(schema, name, required), ...fieldsOf(items, `${name}[]`)];
  return [row(schema, name, required), ...innerFields(schema, name)];
}

function innerFields(schema: JsonSchema, name: string): Field[] {
  const alternatives = alternativesOf(schema);
  if (alternatives.length === 0) return fieldsOf(schema, name);
  const fields = alternatives.flatMap((alternative) => fieldsOf(alternative, name));
  // Where the alternatives share a field, it is shown once, and one that not all have is not required.
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
  return { ...row(schema, path === '' ? '…' : `${path}.…`, true), description: 'Its fields.' };
}

/** In a few words: `string`, `integer ≥ 1`, `"png" | "gif"`, `Tool[]`. */
export function typeOf(schema: JsonSchema): string {
  const { $ref, const: constant, enum: values, not, items, default: standard } = schema;
  if (not !== undefined) return 'not accepted';
  const suffix = standard === undefined ? '' : `, ${JSON.stringify(standard)} when left out`;
  if ($ref !== undefined) return nameIn($ref);
  if (constant !== undefined) return JSON.stringify(constant);
  if (values) return values.map((value) => JSON.stringify(value)).join(' | ') + suffix;
  const alternatives = alternativesOf(schema);
  if (alternatives.length > 0) return [...new Set(alternatives.map(typeOf))].join(' | ');
  if (isSchema(items)) return `${typeOf(items)}[]`;
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
      isSchema(property) && property.const !== undefined ? [`${name}: ${String(property.const)}`] : [],
    )
    .join(', ');
}

function alternativesOf({ oneOf, anyOf }: JsonSchema): JsonSchema[] {
  return [...(oneOf ?? []), ...(anyOf ?? [])];
}

/** The named schema that a value, or each of a list, is of. */
function referenceOf({ $ref, items }: JsonSchema): string | undefined {
  if ($ref !== undefined) return nameIn($ref);
  return isSchema(items) ? referenceOf(items) : undefined;
}

export function nameIn($ref: string): string {
  return $ref.split('/').at(-1) ?? $ref;
}

function joined(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
