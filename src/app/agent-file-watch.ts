import { type FSWatcher, watch } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Logger } from '../ports/logger.ts';

/** Editors write a file in several steps. */
const QUIET_MS = 200;

/**
 * Warns once if the agent file changes while the service runs, because the service reads it only at the start. The
 * folder is watched, not the file: most editors replace the file. A folder that cannot be watched is no problem. The
 * watcher does not keep the process running.
 */
export async function watchAgentFile(path: string, log: Logger): Promise<void> {
  const text = await contentOf(path);
  let timer: NodeJS.Timeout | undefined;
  let watcher: FSWatcher | undefined;
  const compare = async (): Promise<void> => {
    if ((await contentOf(path)) === text) {
      log.debug({ agentFile: path }, 'the agent file is as it was');
      return;
    }
    watcher?.close();
    log.warn({ agentFile: path }, 'the agent file has changed; restart the service to use it');
  };
  try {
    watcher = watch(dirname(resolve(path)), { persistent: false }, () => {
      clearTimeout(timer);
      timer = setTimeout(() => void compare(), QUIET_MS).unref();
    });
    log.debug({ agentFile: path }, 'the agent file is watched');
    watcher.on('error', (err) => log.debug({ err }, 'the agent file is not watched any more'));
  } catch (err) {
    log.debug({ err }, 'the agent file cannot be watched');
  }
}

/** Undefined for a file that cannot be read, such as one that an editor is replacing. */
async function contentOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch {
    return undefined;
  }
}
