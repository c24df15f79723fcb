import type { Ajv, ValidateFunction } from 'ajv';
import type { Logger } from '../../ports/logger.ts';
import type { SchemaCheck, SchemaVerdict } from '../../ports/schema-check.ts';
import { compile, describe, loadAjv } from './schema-compiler.ts';
import { SchemaThread } from './schema-thread.ts';

/**
 * Checks values with Ajv, which is loaded with the first check. Each schema object of a tool server is compiled once. Those
 * of clients are checked in a thread, and so are those with a regular expression, which may never come to an end.
 */
export function ajvSchemaCheck(log: Logger): SchemaCheck {
  const compiled = new WeakMap<object, ValidateFunction | null>();
  const ofClients = new SchemaThread();
  /** Clients cannot hold up the calls of tools. */
  const ofServers = new SchemaThread();
  let ajv: Promise<Ajv> | null = null;
  return {
    async issueWith(schema, value) {
      if (hasPattern(schema)) return issueOf(await ofServers.check(schema, value, 'arguments'), log);
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
    ofClient: (schema, value) => ofClients.check(schema, value, 'the value'),
  };
}

const patterned = new WeakMap<object, boolean>();

/** Whether a check may run a regular expression. A property may be called `pattern`, too, which does no harm. */
function hasPattern(schema: Readonly<Record<string, unknown>>): boolean {
  const known = patterned.get(schema);
  if (known !== undefined) return known;
  const found = JSON.stringify(schema).includes('"pattern');
  patterned.set(schema, found);
  return found;
}

function issueOf({ issue, unusable }: SchemaVerdict, log: Logger): string | undefined {
  if (unusable !== undefined) warnOf(unusable, log);
  return issue;
}

function usable(ajv: Ajv, schema: Readonly<Record<string, unknown>>, log: Logger): ValidateFunction | null {
  try {
    return compile(ajv, schema);
  } catch (error) {
    warnOf(error, log);
    return null;
  }
}

function warnOf(err: unknown, log: Logger): void {
  log.warn({ err }, 'an inputSchema cannot be used; the arguments of its tool are not checked before a call');
}
