import { randomBytes } from 'node:crypto';
import { memoryKeys } from '../../../src/adapters/secret-key/key-ring.ts';
import { sealedBox } from '../../../src/adapters/secret-key/sealed-box.ts';
import { KEY_BYTES, secretKey } from '../../../src/adapters/secret-key/secret-key.ts';

/** What a service encrypts with before, while and after its key is replaced. */
export function replacedKey() {
  const [former, present] = [secretKey(randomBytes(KEY_BYTES)), secretKey(randomBytes(KEY_BYTES))];
  return {
    before: sealedBox(memoryKeys(former)),
    both: sealedBox({
      places: ['this test'],
      current: async () => present,
      find: async (fingerprint) => [former, present].find((key) => key.fingerprint === fingerprint),
    }),
    after: sealedBox(memoryKeys(present)),
  };
}
