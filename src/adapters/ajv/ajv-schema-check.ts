import type { ValidateFunction } from 'ajv';
import { messageOf } from '../../core/thrown.ts';
import { hasPattern } from '../../core/tool-call/schema-risk.ts';
import type { Logger } from '../../ports/logger.ts';
import type { SchemaCheck, SchemaVerdict } from '../../ports/schema-check.ts';
import { ClientSchemas } from './client-schemas.ts';
import { type Compile, loadCompiler, verdictOn } from './schema-compiler.ts';
import { SchemaThread } from './schema-thread.ts';

const IN_THREAD = 'in a thread';

type JsonSchema = Readonly<Record<string, unknown>>;

/** How a schema is checked, or why it cannot be used. */
type Check = ValidateFunction | { readonly unusable: string };

/**
 * Checks values with Ajv, which is loaded with the first check. Each schema object of a tool server is compiled once. Those
 * of clients are checked in a thread, and so are those with a regular expression, which may never come to an end.
 */
export function ajvSchemaCheck(log: Logger): SchemaCheck {
  const checks = new WeakMap<object, Promise<Check> | typeof IN_THREAD>();
  /** Schemas that the log has been told about. */
  const told = new WeakSet<object>();
  const ofClients = new ClientSchemas();
  /** Clients cannot hold up the calls of tools. */
  const ofServers = new SchemaThread();
  let compiler: Promise<Compile> | null = null;
  const compiled = async (schema: JsonSchema): Promise<Check> => {
    compiler ??= loadCompiler();
    return usable(await compiler, schema);
  };
  const ofTool = async (schema: JsonSchema, value: unknown, root: string): Promise<SchemaVerdict> => {
    const known = checks.get(schema) ?? (hasPattern(schema) ? IN_THREAD : compiled(schema));
    checks.set(schema, known);
    if (known === IN_THREAD) {
      const verdict = await ofServers.check({ schema, value, root });
      const { unusable } = verdict;
      if (unusable !== undefined) checks.set(schema, Promise.resolve({ unusable }));
      return verdict;
    }
    const check = await known;
    if ('unusable' in check) return check;
    return check(value) ? {} : verdictOn(check.errors ?? [], root);
  };
  const ofServer: SchemaCheck['ofServer'] = async (schema, value) => {
    const { unusable, ...verdict } = await ofTool(schema, value, 'arguments');
    if (unusable !== undefined && !told.has(schema)) {
      told.add(schema);
      log.warn(
        { reason: unusable },
        'an inputSchema cannot be used; arguments are not checked before a call',
      );
    }
    return verdict;
  };
  return {
    ofServer,
    issueWith: async (schema, value) => (await ofServer(schema, value)).issue,
    ofResult: (schema, value) => ofTool(schema, value, 'the value'),
    ofClient: (schema, value, owner) => ofClients.check({ schema, value, root: 'the value' }, owner),
  };
}

function usable(compile: Compile, schema: JsonSchema): Check {
  try {
    return compile(schema);
  } catch (error) {
    return { unusable: messageOf(error) };
  }
}
