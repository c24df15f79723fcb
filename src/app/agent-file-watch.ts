import { watch } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { agentVersionOf } from '../config/reading/agent-file.ts';
import type { AgentId, AgentVersion } from '../core/agent-description.ts';
import type { Logger } from '../ports/logger.ts';

/** Editors write a file in several steps. */
const QUIET_MS = 200;

/** The agent file as it is in force. */
export interface WatchedFile {
  readonly agentId: AgentId;
  readonly file: string;
  readonly versionInForce: () => AgentVersion;
}

/**
 * Warns once of each version of the agent file that the service has not read. The folder is watched, not the file: most
 * editors replace the file. A folder that cannot be watched is no problem. The watcher does not keep the process running.
 */
export async function watchAgentFile(
  { agentId, file, versionInForce }: WatchedFile,
  log: Logger,
): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  let warnedOf: AgentVersion | undefined;
  const compare = async (): Promise<void> => {
    const text = await contentOf(file);
    const version = text === undefined ? undefined : agentVersionOf(text);
    if (version === undefined || version === versionInForce()) {
      log.debug({ agentFile: file }, 'the agent file is as it was');
      return;
    }
    if (version === warnedOf) return;
    warnedOf = version;
    log.warn(
      { agentFile: file },
      `the agent file has changed; POST /api/agents/${agentId}/reload uses it, or a restart`,
    );
  };
  try {
    const watcher = watch(dirname(resolve(file)), { persistent: false }, (_, changed) => {
      if (!mayBe(file, changed)) return;
      clearTimeout(timer);
      timer = setTimeout(() => void compare(), QUIET_MS).unref();
    });
    log.debug({ agentFile: file }, 'the agent file is watched');
    watcher.on('error', (err) => log.debug({ err }, 'the agent file is not watched any more'));
  } catch (err) {
    log.debug({ err }, 'the agent file cannot be watched');
  }
}

/**
 * Whether a change in the folder may concern the file. Other files may change all the time, such as a log. Kubernetes
 * replaces the folder `..data`, to which the file is a link.
 */
function mayBe(file: string, changed: string | null): boolean {
  return changed === null || changed === basename(file) || changed.startsWith('..');
}

/** Undefined for a file that cannot be read, such as one that an editor is replacing. */
async function contentOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch {
    return undefined;
  }
}
