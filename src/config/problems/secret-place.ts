import { isSecretName } from '../export/redact.ts';
import type { Path } from './path.ts';

/** Values below these keys may be secrets, whatever they are called. */
const SECRET_PLACES = ['args', 'env', 'headers', 'parameters', 'apiKeys'];
/** Sections of the service file that are called as secrets are. What is in them counts by its own name. */
const SECTIONS = ['auth', 'jwt'];

/** Whether the value at a path of a file may be a secret. */
export function mayHoldSecret(path: Path): boolean {
  const names = path.filter((segment) => typeof segment === 'string');
  // The last name is no section: whoever writes `auth: hunter2` may have written a secret there.
  const inSections = names.slice(0, -1).findIndex((name, index) => name !== SECTIONS[index]);
  const own = names.slice(inSections === -1 ? names.length - 1 : inSections);
  return own.some((name) => SECRET_PLACES.includes(name) || isSecretName(name));
}
