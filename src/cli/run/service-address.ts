import { rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { addressFile } from '../../adapters/sqlite/file/data-directory.ts';
import type { Settings } from '../../config/settings.ts';

/**
 * Writes the address of this service into its data directory, for commands that find the directory in use.
 * @param url null for a service without an address: then that of an earlier one is removed.
 */
export function noteAddress(
  { dataDir, store }: Pick<Settings, 'dataDir' | 'store'>,
  url: string | null,
): void {
  if (dataDir === ':memory:' || store !== undefined) return;
  const file = addressFile(resolve(dataDir));
  if (url === null) rmSync(file, { force: true });
  else writeFileSync(file, `${url}\n`, { mode: 0o600 });
}
