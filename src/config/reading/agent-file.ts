import { hash } from 'node:crypto';
import type { AgentVersion } from '../../core/agent-description.ts';
import { AgentConfig } from '../schema/agent-config.ts';
import { parseConfigFile, readConfigText } from './config-file.ts';
import type { Environment } from './expand.ts';

export interface LoadedAgent {
  readonly path: string;
  readonly agentVersion: AgentVersion;
  /** Variables expanded, defaults filled in. Holds secrets. */
  readonly config: AgentConfig;
  /** The data as written in the file, for the export. */
  readonly raw: Readonly<Record<string, unknown>>;
}

/** Reads an agent file. Throws one `AgentFileError` with all problems of the file. */
export function loadAgentFile(path: string, environment: Environment): LoadedAgent {
  return parseAgentFile(readConfigText(path, 'a YAML agent file'), path, environment);
}

/** Parses the text of an agent file. @param path the name of the file in errors. */
export function parseAgentFile(text: string, path: string, environment: Environment): LoadedAgent {
  return {
    path,
    agentVersion: agentVersionOf(text),
    ...parseConfigFile({ schema: AgentConfig, content: 'a map with the key llm', environment }, text, path),
  };
}

/** As `sha256sum agent.yml | cut -c1-12` shows it. */
export function agentVersionOf(text: string): AgentVersion {
  return hash('sha256', text).slice(0, 12);
}
