import { dirname, resolve } from 'node:path';
import { ServiceConfig } from '../schema/service-config.ts';
import { readConfigFile } from './config-file.ts';
import type { Environment } from './expand.ts';

/** Reads a service file. Throws one `AgentFileError` with all problems of the file. */
export function loadServiceFile(path: string, environment: Environment): ServiceConfig {
  const { config } = readConfigFile(
    { schema: ServiceConfig, what: 'a YAML service file', environment },
    path,
  );
  const { agent } = config;
  return agent === undefined ? config : { ...config, agent: resolve(dirname(path), agent) };
}
