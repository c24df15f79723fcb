import type { Ajv, ErrorObject, ValidateFunction } from 'ajv';
import { withoutAsync } from '../../core/tool-call/schema-risk.ts';

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
