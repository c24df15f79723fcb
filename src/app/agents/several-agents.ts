import type { AgentId } from '../../core/agent-description.ts';
import { agentPrefix } from '../../core/log/streams.ts';
import { agentSnapshots, agentStore } from '../../runtime/agents/agent-log.ts';
import { LogBackups } from '../../runtime/requests/log-backups.ts';
import type { Adapters } from '../adapters/adapters.ts';
import { furtherAdapters } from '../adapters/choose-adapters.ts';
import type { Agent } from '../agent.ts';
import { closeInOrder, closeTogether, disposing } from '../close-in-order.ts';
import { composeAgent } from '../compose.ts';
import { logReaders, sessionBudget } from '../memory-budgets.ts';
import { SampledMetrics } from '../metrics/sampled-metrics.ts';
import { SummedMetrics } from '../metrics/summed-metrics.ts';
import { sectionsWithoutEffect } from './fixed-sections.ts';
import type { ComposedAgents, HostedFile, HostOptions } from './hosted-agents.ts';
import { unprefixedAgent } from './unprefixed-agent.ts';
import { warnUnlessServed } from './unserved-agents.ts';

/**
 * Builds several agents on one log. Each has a part of the log to itself, and tool servers, sessions and idempotency keys
 * of its own.
 */
export async function composeSeveral(options: HostOptions): Promise<ComposedAgents> {
  const { agents: files, adapters } = options;
  const unprefixed = await unprefixedAgent(adapters.store, files[0].id);
  warnUnlessServed(unprefixed, options);
  for (const file of files.slice(1)) warnOfSections(file, options);
  const metrics = new SampledMetrics(adapters.metrics);
  const summed = new SummedMetrics(metrics);
  const shared = {
    workingMemory: sessionBudget(),
    readers: logReaders(),
    backups: new LogBackups(adapters.backup),
  };
  const agents = new Map<AgentId, Agent>();
  for (const file of files) {
    const own = { ...(await adaptersOf(file, unprefixed, options)), metrics: summed };
    const { agents: _, ...others } = options;
    agents.set(file.id, await composeAgent({ ...others, ...file.loaded, adapters: own, ...shared }));
  }
  const all = [...agents.values()];
  const [first] = all;
  if (!first) throw new Error('there is no agent');
  return {
    first,
    agents,
    metrics,
    drain: async (timeoutMs) => void (await Promise.all(all.map((agent) => agent.drain(timeoutMs)))),
    async close() {
      const { cluster, snapshots, store, tracing } = adapters;
      await closeInOrder(
        () => closeTogether(...all.map((agent) => () => agent.close())),
        ...[cluster, snapshots, store, tracing].map(disposing),
      );
    },
  };
}

function warnOfSections({ id: agentId, file, loaded: { raw } }: HostedFile, { log }: HostOptions): void {
  const sections = sectionsWithoutEffect(raw);
  if (sections.length > 0)
    log.warn(
      { agentId, agentFile: file, sections },
      'these sections do nothing, because the service takes them from the file of its first agent',
    );
}

async function adaptersOf(
  { id, loaded: { config } }: HostedFile,
  unprefixed: AgentId,
  { agents: [first], adapters, environment, log }: HostOptions,
): Promise<Adapters> {
  const { store, snapshots, tracing, cluster } = adapters;
  const shared = {
    ...adapters,
    store: id === unprefixed ? keptOpen(store) : agentStore(store, id),
    snapshots: id === unprefixed ? keptOpen(snapshots) : agentSnapshots(snapshots, id),
    ...(tracing && { tracing: keptOpen(tracing) }),
    ...(cluster && { cluster: keptOpen(cluster) }),
    ...(id !== unprefixed && { streamPrefix: agentPrefix(id) }),
  };
  return id === first.id && id === unprefixed
    ? shared
    : furtherAdapters({ config, environment, log }, shared, shared);
}

/** The same, but it stays open when it is disposed of: others use it, too. */
function keptOpen<T extends AsyncDisposable>(shared: T): T {
  return new Proxy(shared, {
    get: (target, name) => {
      if (name === Symbol.asyncDispose) return async () => undefined;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
