import type { Ajv, ValidateFunction } from 'ajv';
import { hasPattern } from '../../core/tool-call/schema-risk.ts';
import type { Logger } from '../../ports/logger.ts';
import type { SchemaCheck } from '../../ports/schema-check.ts';
import { ClientSchemas } from './client-schemas.ts';
import { compile, describe, loadAjv } from './schema-compiler.ts';
import { SchemaThread } from './schema-thread.ts';

const IN_THREAD = 'in a thread';

/**
 * Checks values with Ajv, which is loaded with the first check. Each schema object of a tool server is compiled once. Those
 * of clients are checked in a thread, and so are those with a regular expression, which may never come to an end.
 */
export function ajvSchemaCheck(log: Logger): SchemaCheck {
  /** How each schema is checked; null if it cannot be used. */
  const checks = new WeakMap<object, Promise<ValidateFunction | null> | typeof IN_THREAD>();
  const ofClients = new ClientSchemas();
  /** Clients cannot hold up the calls of tools. */
  const ofServers = new SchemaThread();
  let ajv: Promise<Ajv> | null = null;
  const compiled = (schema: Readonly<Record<string, unknown>>): Promise<ValidateFunction | null> => {
    ajv ??= loadAjv();
    return ajv.then((checker) => usable(checker, schema, log));
  };
  return {
    async issueWith(schema, value) {
      const known = checks.get(schema) ?? (hasPattern(schema) ? IN_THREAD : compiled(schema));
      checks.set(schema, known);
      if (known === IN_THREAD) {
        const { issue, unusable } = await ofServers.check({ schema, value, root: 'arguments' });
        if (unusable === undefined) return issue;
        warnOf(unusable, log);
        checks.set(schema, Promise.resolve(null));
        return undefined;
      }
      const check = await known;
      if (check === null || check(value)) return undefined;
      return describe(check.errors ?? [], 'arguments');
    },
    ofClient: (schema, value, owner) => ofClients.check({ schema, value, root: 'the value' }, owner),
  };
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
