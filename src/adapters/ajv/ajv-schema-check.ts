import type { Ajv, ErrorObject, ValidateFunction } from 'ajv';
import type { Logger } from '../../ports/logger.ts';
import type { SchemaCheck } from '../../ports/schema-check.ts';

/** Checks values with Ajv, which is loaded with the first check. Each schema object is compiled once. */
export function ajvSchemaCheck(log: Logger): SchemaCheck {
  const compiled = new WeakMap<object, ValidateFunction | null>();
  let ajv: Promise<Ajv> | null = null;
  return {
    async issueWith(schema, value) {
      ajv ??= loadAjv();
      const checker = await ajv;
      let validate = compiled.get(schema);
      if (validate === undefined) {
        validate = compile(checker, schema, log);
        compiled.set(schema, validate);
      }
      if (validate === null || validate(value)) return undefined;
      return describe(validate.errors ?? []);
    },
  };
}

/** Not strict: tool servers use several drafts and their own formats, and Ajv would reject what it does not know. */
async function loadAjv(): Promise<Ajv> {
  const { Ajv: Implementation } = await import('ajv');
  return new Implementation({ strict: false, allErrors: true, validateFormats: false, logger: false });
}

function compile(ajv: Ajv, schema: Readonly<Record<string, unknown>>, log: Logger): ValidateFunction | null {
  try {
    // Two tools may use the same `$id`, and Ajv rejects a `$schema` that it does not know.
    const { $schema: _draft, $id: _name, ...rest } = schema;
    return ajv.compile(rest);
  } catch (error) {
    log.warn(
      { err: error },
      'an inputSchema cannot be used; the arguments of its tool are not checked before a call',
    );
    return null;
  }
}

function describe(errors: readonly ErrorObject[]): string {
  return errors
    .slice(0, 5)
    .map(({ instancePath, message, params }) => {
      const where = instancePath === '' ? 'arguments' : instancePath.slice(1).replaceAll('/', '.');
      const extra = 'additionalProperty' in params ? ` (${String(params.additionalProperty)})` : '';
      return `${where} ${message ?? 'is not valid'}${extra}`;
    })
    .join('; ');
}
