import type { Ajv, ErrorObject, ValidateFunction } from 'ajv';

/** Not strict: tool servers use several drafts and their own formats, and Ajv would reject what it does not know. */
export async function loadAjv(): Promise<Ajv> {
  const { Ajv: Implementation } = await import('ajv');
  return new Implementation({ strict: false, allErrors: true, validateFormats: false, logger: false });
}

/** Throws if the schema cannot be used. */
export function compile(ajv: Ajv, schema: Readonly<Record<string, unknown>>): ValidateFunction {
  return ajv.compile(checkable(schema));
}

/**
 * The schema without what is no part of JSON Schema for a tool: two tools may use the same `$id`, Ajv rejects a `$schema` that
 * it does not know, and with its own `$async` it would answer with a promise that rejects.
 */
function checkable(schema: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { $schema: _draft, $id: _name, $async: _mode, ...rest } = schema;
  return rest;
}

/** What is wrong with a value, for people. @param root what the value itself is called. */
export function describe(errors: readonly ErrorObject[], root: string): string {
  return errors
    .slice(0, 5)
    .map(({ instancePath, message, params }) => {
      const where = instancePath === '' ? root : instancePath.slice(1).replaceAll('/', '.');
      const extra = 'additionalProperty' in params ? ` (${String(params.additionalProperty)})` : '';
      return `${where} ${message ?? 'is not valid'}${extra}`;
    })
    .join('; ');
}
