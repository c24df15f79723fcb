import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The files below a folder that hold these bytes. */
export async function filesWith(folder: string, text: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  const contents = await Promise.all(files.map((file) => readFile(file)));
  return files.filter((_, index) => contents[index]?.includes(text));
}
