import type { Ajv, ValidateFunction } from 'ajv';
import type { Logger } from '../../ports/logger.ts';
import type { SchemaCheck } from '../../ports/schema-check.ts';
import { compile, describe, loadAjv } from './schema-compiler.ts';
import { SchemaThread } from './schema-thread.ts';

/**
 * Checks values with Ajv, which is loaded with the first check. Each schema object of a tool server is compiled once. Those
 * of clients are checked in a thread.
 */
export function ajvSchemaCheck(log: Logger): SchemaCheck {
  const compiled = new WeakMap<object, ValidateFunction | null>();
  const thread = new SchemaThread();
  let ajv: Promise<Ajv> | null = null;
  return {
    async issueWith(schema, value) {
      ajv ??= loadAjv();
      const checker = await ajv;
      let validate = compiled.get(schema);
      if (validate === undefined) {
        validate = usable(checker, schema, log);
        compiled.set(schema, validate);
      }
      if (validate === null || validate(value)) return undefined;
      return describe(validate.errors ?? [], 'arguments');
    },
    ofClient: (schema, value) => thread.check(schema, value),
  };
}

function usable(ajv: Ajv, schema: Readonly<Record<string, unknown>>, log: Logger): ValidateFunction | null {
  try {
    return compile(ajv, schema);
  } catch (error) {
    log.warn(
      { err: error },
      'an inputSchema cannot be used; the arguments of its tool are not checked before a call',
    );
    return null;
  }
}
