import { type AgentId, ONLY_AGENT } from '../../core/agent-description.ts';
import type { Metrics } from '../../ports/metrics.ts';
import { answerForAgents } from '../../runtime/requests/agent-requests.ts';
import { logSize } from '../../runtime/requests/log-size.ts';
import type { Agent } from '../agent.ts';
import { composeAgent } from '../compose.ts';
import { showCluster } from '../metrics/cluster-metrics.ts';
import { showLog } from '../metrics/log-metrics.ts';
import type { AgentHost, ComposedAgents, HostOptions } from './hosted-agents.ts';
import { ReloadableAgents } from './reloadable-agents.ts';
import { chosenAgent } from './unprefixed-agent.ts';
import { warnOfUnserved } from './unserved-agents.ts';

/** Builds the agents. Code for several ones is loaded only if there are several. */
export async function hostAgents(options: HostOptions): Promise<AgentHost> {
  const { agents: files, adapters, log, readAgain } = options;
  const [first] = files;
  const isAlone = files.length === 1 && !(await hasStreamsOfAnother(options));
  const host = isAlone
    ? only(first.id, await composeAgent({ ...options, ...first.loaded }))
    : await (await import('./several-agents.ts')).composeSeveral(options);
  if (first.id !== ONLY_AGENT) await warnOfUnserved(options);
  showLogSize(adapters.metrics, options);
  if (adapters.cluster) {
    showCluster(adapters.metrics, adapters.cluster);
    adapters.cluster.serves(() =>
      Object.fromEntries([...host.agents].map(([id, { agentVersion }]) => [id, agentVersion])),
    );
  }
  const directory = new ReloadableAgents(files, host.agents, { readAgain, log });
  for (const agent of host.agents.values()) answerForAgents(agent.bus, directory);
  return { ...host, reloadAll: () => directory.reloadAll() };
}

/** Whether the streams without a prefix are those of an agent that is not in the list any more. */
async function hasStreamsOfAnother({ agents: [{ id }], adapters: { store } }: HostOptions): Promise<boolean> {
  if (id === ONLY_AGENT) return false;
  const chosen = await chosenAgent(store);
  return chosen !== undefined && chosen !== id;
}

function only(id: AgentId, agent: Agent): ComposedAgents {
  return {
    first: agent,
    agents: new Map([[id, agent]]),
    metrics: agent.metrics,
    drain: (timeoutMs) => agent.drain(timeoutMs),
    close: () => agent.close(),
  };
}

/** Not sampled: each reading is a question to the thread of the log, and the first one counts all events. */
function showLogSize(metrics: Metrics, { adapters: { store }, log }: HostOptions): void {
  showLog(metrics, () => logSize(store, log));
}
