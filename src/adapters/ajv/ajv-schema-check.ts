import type { Ajv, ValidateFunction } from 'ajv';
import { hasPattern } from '../../core/tool-call/schema-risk.ts';
import type { Logger } from '../../ports/logger.ts';
import type { SchemaCheck } from '../../ports/schema-check.ts';
import { ClientSchemas } from './client-schemas.ts';
import { compile, loadAjv, verdictOn } from './schema-compiler.ts';
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
  const ofServer: SchemaCheck['ofServer'] = async (schema, value) => {
    const known = checks.get(schema) ?? (hasPattern(schema) ? IN_THREAD : compiled(schema));
    checks.set(schema, known);
    if (known === IN_THREAD) {
      const verdict = await ofServers.check({ schema, value, root: 'arguments' });
      if (verdict.unusable === undefined) return verdict;
      warnOf(verdict.unusable, log);
      checks.set(schema, Promise.resolve(null));
      return {};
    }
    const check = await known;
    if (check === null || check(value)) return {};
    return verdictOn(check.errors ?? [], 'arguments');
  };
  return {
    ofServer,
    issueWith: async (schema, value) => (await ofServer(schema, value)).issue,
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
