import { fstatSync, statSync } from 'node:fs';
import { devNull } from 'node:os';
import type { ServiceConfig } from '../../config/schema/service-config.ts';
import { ApiKeyName, type CreatedApiKey } from '../../core/access/api-key-record.ts';
import { TenantId } from '../../core/access/identity.ts';
import { ROLES } from '../../core/access/scopes.ts';
import type { KeyAdministration } from './key-administration.ts';
import { parseKeyId, parseOption, parseValidity, requireKnownRoles } from './key-options.ts';
import { createdLine, keyTable, unprintedLine } from './key-table.ts';
import type { KeysAction, KeysOptions } from './keys-command.ts';

/** Prints what the action answers on standard output. Of a new key, that is the key alone. */
export async function runKeys({ log, action }: KeysOptions): Promise<void> {
  if ('url' in log) {
    // A running service knows its own roles.
    const run = prepare(action, undefined);
    const { remoteKeys } = await import('./remote-keys.ts');
    const { askWithAuth } = await import('../service/unauthenticated-service.ts');
    return askWithAuth(log, () => run(remoteKeys(log)));
  }
  const { auth, store } = await serviceFileOf(action);
  const roles = auth?.roles ?? {};
  // Checked first: a bad option must not open or make a log.
  const run = prepare(action, [...Object.keys(ROLES), ...Object.keys(roles)]);
  const { storedKeys } = await import('./stored-keys.ts');
  return run(storedKeys({ ...log, store: log.store ?? store }, roles));
}

type Run = (keys: KeyAdministration) => Promise<void>;

/** The service file of the action: its roles, and where the log is. */
async function serviceFileOf(action: KeysAction): Promise<Pick<ServiceConfig, 'auth' | 'store'>> {
  if (action.do !== 'create' || action.serviceFile === undefined) return {};
  const { loadServiceFile } = await import('../../config/reading/service-file.ts');
  const { auth, store } = loadServiceFile(action.serviceFile, process.env);
  return { auth, store: action.inFolder ? undefined : store };
}

/** @param known the roles that a key may have; undefined for a running service, which knows its own. */
function prepare(action: KeysAction, known: readonly string[] | undefined): Run {
  switch (action.do) {
    case 'create':
      return prepareCreate(action, known);
    case 'list':
      return (keys) => printKeys(keys, action.json);
    case 'revoke': {
      const keyId = parseKeyId(action.keyId);
      return async (keys) => {
        const { name } = await keys.revoke(keyId);
        process.stdout.write(`revoked API key ${keyId} of key:${name}\n`);
      };
    }
    default:
      return action satisfies never;
  }
}

function prepareCreate(
  { roles, ...typed }: Extract<KeysAction, { do: 'create' }>,
  known: readonly string[] | undefined,
): Run {
  const name = parseOption('--name', typed.name, ApiKeyName);
  const tenant = typed.tenant === undefined ? undefined : parseOption('--tenant', typed.tenant, TenantId);
  const validMs = typed.expires === undefined ? undefined : parseValidity(typed.expires);
  if (known) requireKnownRoles(roles, known);
  return async (keys) => {
    requireOutput();
    const expiresAt = validMs === undefined ? undefined : Date.now() + validMs;
    await keys.create({ name, roles, tenant, expiresAt }, printKey);
  };
}

/** In place of a standard output that is closed, Node writes to the null device. Nobody would ever have the key. */
function requireOutput(): void {
  const output = fstatSync(process.stdout.fd);
  const nowhere = statSync(devNull, { throwIfNoEntry: false });
  if (!output.isCharacterDevice() || output.rdev !== nowhere?.rdev) return;
  throw new Error('standard output is closed or discarded, and nobody would get the key; no key was created');
}

/** Resolves when it is printed. If standard output cannot be written, the process ends; see `main.ts`. */
function printKey({ key, record }: CreatedApiKey): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  process.stdout.write(`${key}\n`, (error) => {
    process.stderr.write(error ? unprintedLine(record) : createdLine(record));
    resolve();
  });
  return promise;
}

async function printKeys(keys: KeyAdministration, asJson: boolean): Promise<void> {
  const list = await keys.list();
  if (asJson) process.stdout.write(list.map((key) => `${JSON.stringify(key)}\n`).join(''));
  else if (list.length === 0) process.stderr.write('there are no API keys\n');
  else process.stdout.write(keyTable(list));
}
