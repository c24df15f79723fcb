import { randomBytes } from 'node:crypto';
import type { KeyFile } from './key-file.ts';
import { KEY_BYTES, type SecretKey, secretKey } from './secret-key.ts';

/** The available keys. */
export interface KeyRing {
  /** For people: where the keys are looked for. */
  readonly places: readonly string[];
  /** The key that new seals use. */
  current(): Promise<SecretKey>;
  find(fingerprint: string): Promise<SecretKey | undefined>;
}

/**
 * New seals use the key of the environment, or the key of the file if the environment has none. Both keys open seals,
 * so that a service can still read its secrets when its key has been moved to the environment.
 */
export function diskKeys(file: KeyFile, given?: SecretKey): KeyRing {
  return {
    places: ['AGENT_SERVICE_SECRET_KEY', file.path],
    current: async () => given ?? file.readOrMake(),
    async find(fingerprint) {
      if (given?.fingerprint === fingerprint) return given;
      const inFile = await file.read();
      return inFile?.fingerprint === fingerprint ? inFile : undefined;
    },
  };
}

/** For a log in memory: the key ends with the process. */
export function memoryKeys(key: SecretKey = secretKey(randomBytes(KEY_BYTES))): KeyRing {
  return {
    places: ['the memory of this process'],
    current: async () => key,
    find: async (fingerprint) => (fingerprint === key.fingerprint ? key : undefined),
  };
}
