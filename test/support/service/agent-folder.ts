import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TempDirectory, tempDirectory } from './temp-directory.ts';

/** A new folder with an `agent.yml`, for a process to be started in; it goes away with `await using`. */
export async function agentFolder(yaml: string): Promise<TempDirectory> {
  const folder = await tempDirectory();
  await writeFile(join(folder.path, 'agent.yml'), yaml);
  return folder;
}
