import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { endTogether } from './end-together.ts';

/** `npm ci` in a folder. It says what it does on standard error. */
export async function npmCi(folder: string): Promise<void> {
  const npm = spawn('npm', ['ci', '--no-audit', '--no-fund'], {
    cwd: folder,
    stdio: ['ignore', 2, 'inherit'],
  });
  endTogether(npm);
  const [code, signal] = await once(npm, 'exit');
  if (code !== 0) throw new Error(`npm ci in ${folder} ended with ${signal ?? code}`);
}
