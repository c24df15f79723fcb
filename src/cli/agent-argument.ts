import { dirname, join } from 'node:path';
import { InvalidArgumentError } from 'commander';
import { findPackageRoot } from '../app/package-root.ts';
import type { Environment } from '../config/reading/expand.ts';

/** The file that `init` writes if none is named. */
export const INIT_FILE = 'agent.yml';

/** The agent file without an `--agent` flag. */
export function agentFileOf(environment: Environment): string {
  return environment.AGENT_SERVICE_AGENT || defaultAgentFile();
}

export function agentFileName(text: string): string {
  if (text === '') throw new InvalidArgumentError('Expected the path of a YAML file.');
  return text;
}

/** Whether the file is the agent that comes with the package. In its own checkout it is a file like any other. */
export function isBuiltInAgent(file: string): boolean {
  return file === defaultAgentFile() && process.cwd() !== dirname(dirname(file));
}

/** The agent that comes with the package. It needs neither a key nor a network. */
export function defaultAgentFile(): string {
  return join(findPackageRoot(), 'agents', 'default.yml');
}
