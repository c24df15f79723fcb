import type { HostedFile, HostOptions } from '../../app/agents/hosted-agents.ts';
import { readAgent } from '../../app/agents/read-agent.ts';
import { type Given, SettingsError } from '../../config/given.ts';
import { AgentFileError } from '../../config/problems/agent-file-error.ts';
import type { Environment } from '../../config/reading/expand.ts';
import type { AuthConfig } from '../../config/schema/auth-config.ts';
import type { ListedAgent, ServiceConfig } from '../../config/schema/service-config.ts';
import { ONLY_AGENT } from '../../core/agent-description.ts';
import { agentFileOf } from '../agent-argument.ts';

/** What the files of the service say. */
export interface Configured {
  readonly agents: HostOptions['agents'];
  readonly auth: AuthConfig | undefined;
  /** The database that has the log, if the service file names one. */
  readonly store: string | undefined;
  /** Where several services that share the log hear of each other, if the service file says so. */
  readonly bus: string | undefined;
  /** Whether there is a service file. */
  readonly hasServiceFile: boolean;
}

interface Files {
  /** `--agent` or `AGENT_SERVICE_AGENT`. */
  readonly agentFile: Given | undefined;
  /** `--config`. */
  readonly serviceFile: string | undefined;
}

/** Reads the service file, if there is one, and the files of all agents. */
export async function readConfiguration(
  { agentFile, serviceFile }: Files,
  environment: Environment,
): Promise<Configured> {
  const service = await loadService(serviceFile, environment);
  const agents = agentsOf(service, agentFile, environment);
  const { auth, store, bus } = service;
  return { agents, auth, store, bus, hasServiceFile: serviceFile !== undefined };
}

/** The agents of the service file; else the only agent of the service. */
function agentsOf(
  service: ServiceConfig,
  agentFile: Given | undefined,
  environment: Environment,
): Configured['agents'] {
  const [first, ...others] = service.agents ?? [];
  if (!first) {
    const file = agentFile?.value ?? service.agent ?? agentFileOf(environment);
    return [{ id: ONLY_AGENT, file, loaded: readAgent(file, environment) }];
  }
  if (agentFile !== undefined) {
    throw new SettingsError(
      `${agentFile.name} names one agent file, and the service file has a list of agents. Use one of the two.`,
    );
  }
  return readAgents([first, ...others], environment);
}

/** Throws one error with the problems of all files. */
function readAgents(listed: readonly ListedAgent[], environment: Environment): Configured['agents'] {
  const failures: AgentFileError[] = [];
  const read = (agent: ListedAgent): HostedFile[] => {
    try {
      return [{ ...agent, loaded: readAgent(agent.file, environment) }];
    } catch (error) {
      if (!(error instanceof AgentFileError)) throw error;
      failures.push(error);
      return [];
    }
  };
  const [first, ...others] = listed.flatMap(read);
  if (!first || failures.length > 0)
    throw new AggregateError(failures, failures.map(({ message }) => message).join('\n'));
  return [first, ...others];
}

async function loadService(file: string | undefined, environment: Environment): Promise<ServiceConfig> {
  if (file === undefined) return {};
  const { loadServiceFile } = await import('../../config/reading/service-file.ts');
  return loadServiceFile(file, environment);
}
