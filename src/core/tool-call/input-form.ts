import { z } from 'zod';
import { ServiceError } from '../errors.ts';

/*
 * The form of a question: a flat object of simple fields, as MCP restricts it for `elicitation/create`. Clients show it
 * to a person, and the answer is checked against it.
 */

/** One field. Its schema is made when a form is read: few services ever see one. */
const FormField = z.lazy(formField);
type FormField = z.infer<ReturnType<typeof formField>>;
type FieldOfType<T extends FormField['type']> = Extract<FormField, { readonly type: T }>;
type TextField = Exclude<FieldOfType<'string'>, { readonly enum: unknown } | { readonly oneOf: unknown }>;

/** A JSON Schema of one flat object. */
export const InputForm = z.object({
  type: z.literal('object'),
  properties: z.record(z.string(), FormField),
  required: z.array(z.string()).optional(),
});
export type InputForm = z.infer<typeof InputForm>;

/** What a person filled in. */
export const InputContent = z.record(
  z.string(),
  z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]),
);
export type InputContent = z.infer<typeof InputContent>;

function formField() {
  const named = { title: z.string().optional(), description: z.string().optional() };
  const titledValue = z.object({ const: z.string(), title: z.string() });
  const enumType = z.literal('string').default('string');
  const choice = z.object({
    ...named,
    type: enumType,
    enum: z.array(z.string()).min(1),
    /** Titles of the values, in the same order. Only servers of older revisions send them. */
    enumNames: z.array(z.string()).optional(),
    default: z.string().optional(),
  });
  const titledChoice = z.object({
    ...named,
    type: enumType,
    oneOf: z.array(titledValue).min(1),
    default: z.string().optional(),
  });
  const choices = z.object({
    ...named,
    type: z.literal('array'),
    items: z.union([
      z.object({ type: enumType, enum: z.array(z.string()).min(1) }),
      z.object({ anyOf: z.array(titledValue).min(1) }),
    ]),
    minItems: z.int().min(0).optional(),
    maxItems: z.int().min(0).optional(),
    default: z.array(z.string()).optional(),
  });
  const text = z.object({
    ...named,
    type: z.literal('string'),
    minLength: z.int().min(0).optional(),
    maxLength: z.int().min(0).optional(),
    /** For the client that shows the form. It is not checked here, because some expressions take for ever. */
    pattern: z.string().optional(),
    format: z.enum(['email', 'uri', 'date', 'date-time']).optional(),
    default: z.string().optional(),
  });
  const number = z.object({
    ...named,
    type: z.enum(['number', 'integer']),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
    default: z.number().optional(),
  });
  const boolean = z.object({ ...named, type: z.literal('boolean'), default: z.boolean().optional() });
  // The order matters: a choice is a text with further keys.
  return z.union([choice, titledChoice, choices, text, number, boolean]);
}

/**
 * The content with the defaults of the form. Throws a `ServiceError` that names the first field that does not fit.
 * @param at where the client has put the content in its request.
 */
export function filledForm(
  form: InputForm,
  content: Readonly<Record<string, unknown>>,
  at = 'content',
): InputContent {
  const unknown = Object.keys(content).find((name) => !Object.hasOwn(form.properties, name));
  if (unknown !== undefined)
    throw misfit(`${at}.${unknown}`, `the form has no such field; ${fieldsOf(form)}`);
  const filled = Object.entries(form.properties).flatMap(
    ([name, field]): [string, InputContent[string]][] => {
      // Every object has a `constructor`.
      const given = (Object.hasOwn(content, name) ? content[name] : undefined) ?? field.default;
      if (given !== undefined) return [[name, fieldValue(`${at}.${name}`, field, given)]];
      if (form.required?.includes(name)) throw missing(`${at}.${name}`);
      return [];
    },
  );
  return Object.fromEntries(filled);
}

function fieldValue(place: string, field: FormField, given: unknown): InputContent[string] {
  const { data, error } = valueSchema(field).safeParse(given);
  if (data !== undefined) return data;
  throw misfit(place, error?.issues[0]?.message ?? 'it does not fit the form');
}

type ValueSchema = z.ZodType<InputContent[string]>;

function valueSchema(field: FormField): ValueSchema {
  switch (field.type) {
    case 'boolean':
      return z.boolean();
    case 'number':
    case 'integer':
      return numberSchema(field);
    case 'array':
      return choicesSchema(field);
    case 'string':
      if ('enum' in field) return z.enum(field.enum);
      return 'oneOf' in field ? z.enum(constsOf(field.oneOf)) : textSchema(field);
    default:
      return field satisfies never;
  }
}

function numberSchema({ type, minimum, maximum }: FieldOfType<'number' | 'integer'>): ValueSchema {
  let schema = z.number();
  if (type === 'integer') schema = schema.refine(Number.isInteger, 'must be a whole number');
  if (minimum !== undefined) schema = schema.min(minimum);
  return maximum === undefined ? schema : schema.max(maximum);
}

function choicesSchema({ items, minItems, maxItems }: FieldOfType<'array'>): ValueSchema {
  const schema = z
    .array(z.enum('enum' in items ? items.enum : constsOf(items.anyOf)))
    .refine((chosen) => new Set(chosen).size === chosen.length, 'must not have the same value twice')
    .min(minItems ?? 0);
  return maxItems === undefined ? schema : schema.max(maxItems);
}

/** Lengths count characters, as in JSON Schema. */
function textSchema({ minLength, maxLength, format }: TextField): ValueSchema {
  let schema: z.ZodType<string> = z.string();
  if (minLength !== undefined)
    schema = schema.refine(
      (text) => [...text].length >= minLength,
      `must have at least ${minLength} characters`,
    );
  if (maxLength !== undefined)
    schema = schema.refine(
      (text) => [...text].length <= maxLength,
      `must have at most ${maxLength} characters`,
    );
  return format === undefined ? schema : schema.pipe(formats[format]());
}

const formats = {
  email: () => z.email('must be an e-mail address'),
  uri: () => z.url('must be a URL'),
  date: () => z.iso.date('must be a date such as 2026-01-31'),
  'date-time': () => z.iso.datetime({ offset: true, error: 'must be a time such as 2026-01-31T12:00:00Z' }),
};

function constsOf(values: readonly { readonly const: string }[]): string[] {
  return values.map((value) => value.const);
}

function fieldsOf({ properties }: InputForm): string {
  const names = Object.keys(properties);
  return names.length === 0 ? 'it has no fields' : `it has ${names.join(', ')}`;
}

function misfit(field: string, issue: string): ServiceError {
  return new ServiceError('INVALID_REQUEST', `The field ${field} is not valid: ${issue}.`, { field, issue });
}

function missing(field: string): ServiceError {
  const suggestion = `Add ${field} to the request.`;
  return new ServiceError('MISSING_FIELD', `The field ${field} is required.`, { field, suggestion });
}
