import type { Ajv, ErrorObject, ValidateFunction } from 'ajv';
import { shorten } from '../../core/shorten.ts';
import { withoutAsync } from '../../core/tool-call/schema-risk.ts';
import type { SchemaVerdict } from '../../ports/schema-check.ts';

/** Not strict: tool servers use several drafts and their own formats, and Ajv would reject what it does not know. */
export async function loadAjv(): Promise<Ajv> {
  const { Ajv: Implementation } = await import('ajv');
  return new Implementation({ strict: false, allErrors: true, validateFormats: false, logger: false });
}

/** Throws if the schema cannot be used. */
export function compile(ajv: Ajv, schema: Readonly<Record<string, unknown>>): ValidateFunction {
  // Two tools may use the same `$id`, and Ajv rejects a `$schema` that it does not know.
  const { $schema: _draft, $id: _name, ...rest } = withoutAsync(schema);
  return ajv.compile(rest);
}

/** Most errors, and most values of an enum, that are told. */
const MAX_ERRORS = 5;
const MAX_VALUES = 20;
const MAX_CHARACTERS = 200;

/** What is wrong with a value. @param root what the value itself is called. */
export function verdictOn(errors: readonly ErrorObject[], root: string): SchemaVerdict {
  const issue = errors
    .slice(0, MAX_ERRORS)
    .map(({ instancePath, message, params }) => {
      const where = pathOf(instancePath).join('.') || root;
      return `${where} ${message ?? 'is not valid'}${more(params)}`;
    })
    .join('; ');
  const field = errors[0] && fieldOf(errors[0]);
  return { issue, ...(field && { field }) };
}

/** What the message of Ajv leaves out. */
function more(params: ErrorObject['params']): string {
  if ('additionalProperty' in params) return ` (${String(params.additionalProperty)})`;
  if ('allowedValue' in params) return `: ${shorten(JSON.stringify(params.allowedValue), MAX_CHARACTERS)}`;
  if (!Array.isArray(params.allowedValues)) return '';
  const all: readonly unknown[] = params.allowedValues;
  const told = all.slice(0, MAX_VALUES).map((value) => JSON.stringify(value));
  return `: ${shorten(told.join(', '), MAX_CHARACTERS)}${all.length > told.length ? ' and others' : ''}`;
}

function fieldOf({ instancePath, params }: ErrorObject): string {
  const { missingProperty, additionalProperty } = params;
  const name: unknown = missingProperty ?? additionalProperty;
  return [...pathOf(instancePath), ...(typeof name === 'string' ? [name] : [])].join('.');
}

/** @param pointer a JSON pointer. */
function pathOf(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}
