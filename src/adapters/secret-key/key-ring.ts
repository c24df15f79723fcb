import { randomBytes } from 'node:crypto';
import type { KeyFile } from './key-file.ts';
import { KEY_BYTES, type SecretKey, secretKey } from './secret-key.ts';

/** The keys at hand. */
export interface KeyRing {
  /** Where they are looked for, for people. */
  readonly places: readonly string[];
  /** That which seals. */
  current(): Promise<SecretKey>;
  find(fingerprint: string): Promise<SecretKey | undefined>;
}

/**
 * The key of the environment seals where there is one, else that of the file. Both open, so that a service whose key is
 * moved to the environment can still read what it has.
 */
export function diskKeys(file: KeyFile, given?: SecretKey): KeyRing {
  return {
    places: ['AGENT_SERVICE_SECRET_KEY', file.path],
    current: async () => given ?? (await file.read()) ?? file.make(),
    async find(fingerprint) {
      if (given?.fingerprint === fingerprint) return given;
      const inFile = await file.read();
      return inFile?.fingerprint === fingerprint ? inFile : undefined;
    },
  };
}

/** For a log in memory: a key that goes when it goes. */
export function memoryKeys(key: SecretKey = secretKey(randomBytes(KEY_BYTES))): KeyRing {
  return {
    places: ['the memory of this process'],
    current: async () => key,
    find: async (fingerprint) => (fingerprint === key.fingerprint ? key : undefined),
  };
}
