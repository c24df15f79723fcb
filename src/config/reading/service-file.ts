import { dirname, resolve } from 'node:path';
import { ServiceConfig } from '../schema/service-config.ts';
import { readConfigFile } from './config-file.ts';
import type { Environment } from './expand.ts';

/** Reads a service file. Throws one `AgentFileError` with all problems of the file. */
export function loadServiceFile(path: string, environment: Environment): ServiceConfig {
  const what = 'a YAML service file';
  const content = 'a map with keys such as auth or agents';
  const { config } = readConfigFile({ schema: ServiceConfig, what, content, environment }, path);
  const { agent, agents } = config;
  const fromHere = (file: string): string => resolve(dirname(path), file);
  return {
    ...config,
    ...(agent !== undefined && { agent: fromHere(agent) }),
    ...(agents && { agents: agents.map(({ id, file }) => ({ id, file: fromHere(file) })) }),
  };
}
