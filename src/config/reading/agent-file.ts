import { hash } from 'node:crypto';
import type { AgentVersion } from '../../core/agent-description.ts';
import type { Explanation } from '../problems/explain-issue.ts';
import { valueAt } from '../problems/path.ts';
import { AgentConfig } from '../schema/agent-config.ts';
import { LlmAccess } from '../schema/llm-config.ts';
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

/** Says what the key and the address of a model lack. Only those who call its provider know. */
export type CheckAccess = (
  llm: LlmAccess,
  environment: Environment,
) => readonly { readonly key: keyof LlmAccess; readonly text: string }[];

/** Reads an agent file. Throws one `AgentFileError` with all problems of the file. */
export function loadAgentFile(
  path: string,
  environment: Environment,
  checkAccess?: CheckAccess,
): LoadedAgent {
  return parseAgentFile(readConfigText(path, 'a YAML agent file'), path, environment, checkAccess);
}

/** Parses the text of an agent file. @param path the name of the file in errors. */
export function parseAgentFile(
  text: string,
  path: string,
  environment: Environment,
  checkAccess: CheckAccess = () => [],
): LoadedAgent {
  const check = (data: unknown): Explanation[] => {
    const { data: llm } = LlmAccess.safeParse(valueAt(data, ['llm']));
    return llm ? checkAccess(llm, environment).map(({ key, text }) => ({ path: ['llm', key], text })) : [];
  };
  const content = 'a map with the key llm';
  return {
    path,
    agentVersion: agentVersionOf(text),
    ...parseConfigFile({ schema: AgentConfig, content, environment, check }, text, path),
  };
}

/** As `sha256sum agent.yml | cut -c1-12` shows it. */
export function agentVersionOf(text: string): AgentVersion {
  return hash('sha256', text).slice(0, 12);
}
