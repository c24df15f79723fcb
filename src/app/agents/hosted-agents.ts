import type { LoadedAgent } from '../../config/reading/agent-file.ts';
import type { ListedAgent } from '../../config/schema/service-config.ts';
import type { AgentId } from '../../core/agent-description.ts';
import type { LanguageModel } from '../../ports/language-model.ts';
import type { Agent } from '../agent.ts';
import type { AgentOptions } from '../compose.ts';
import type { SampledMetrics } from '../metrics/sampled-metrics.ts';

/** Throws, or rejects, with an error for the operator if the file is not valid, or if its model lacks a key. */
export type ReadAgain = (file: string) => Promise<LoadedAgent & { readonly model: LanguageModel }>;

/** An agent of the service, its file, and what that file said at the start. */
export interface HostedFile extends ListedAgent {
  readonly loaded: LoadedAgent;
}

export interface HostOptions extends Omit<AgentOptions, keyof LoadedAgent> {
  /** The first one answers the requests that name none. */
  readonly agents: readonly [HostedFile, ...HostedFile[]];
  /** Reads the file of an agent again, and chooses its model. */
  readonly readAgain: ReadAgain;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** The agents of the process. */
export interface AgentHost {
  /** Answers the requests that name no agent. */
  readonly first: Agent;
  /** By id, the first one included. */
  readonly agents: ReadonlyMap<AgentId, Agent>;
  /** The metrics of all agents together. */
  readonly metrics: SampledMetrics;
  /** Reads the files of all agents again. What goes wrong is logged, and that agent is as it was. */
  reloadAll(): Promise<void>;
  /** Refuses new messages and waits up to `timeoutMs` for running turns. */
  drain(timeoutMs: number): Promise<void>;
  /** Ends the tool servers and closes the log. */
  close(): Promise<void>;
}

/** The agents as they are composed, before they can be reloaded. */
export type ComposedAgents = Omit<AgentHost, 'reloadAll'>;
