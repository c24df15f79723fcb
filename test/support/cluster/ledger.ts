import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The payments that the tool servers have noted, in the order in which they were made. @param folder of the ledger. */
export async function paidIn(folder: string): Promise<string[]> {
  try {
    const text = await readFile(join(folder, 'paid'), 'utf8');
    return text.split('\n').filter((line) => line !== '');
  } catch (error) {
    // The first payment makes the file.
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}
