import { KeyFile } from '../../adapters/secret-key/key-file.ts';
import { diskKeys, type KeyRing, memoryKeys } from '../../adapters/secret-key/key-ring.ts';
import { parseSecretKey, type SecretKey } from '../../adapters/secret-key/secret-key.ts';
import { SettingsError } from '../../config/given.ts';
import type { Environment } from '../../config/reading/expand.ts';
import type { Logger } from '../../ports/logger.ts';

const VARIABLE = 'AGENT_SERVICE_SECRET_KEY';

interface KeyOptions {
  readonly dataDir: string;
  readonly environment: Environment;
  readonly log: Logger;
}

/** The keys that encrypt secrets. The key file is read or created when a key is first needed. */
export function secretKeys({ dataDir, environment, log }: KeyOptions): KeyRing {
  const given = keyOf(environment[VARIABLE]);
  return dataDir === ':memory:' ? memoryKeys(given) : diskKeys(new KeyFile(dataDir, log), given);
}

function keyOf(text: string | undefined): SecretKey | undefined {
  if (!text) return undefined;
  const key = parseSecretKey(text);
  if (key) return key;
  throw new SettingsError(
    `${VARIABLE}: found ${text.trim().length} characters that are not a key; expected 32 bytes in base64 or as 64 hexadecimal digits, as "openssl rand -base64 32" prints them`,
  );
}
