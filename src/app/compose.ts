import type { LoadedAgent } from '../config/reading/agent-file.ts';
import { MEGABYTE } from '../core/size-limits.ts';
import type { Logger } from '../ports/logger.ts';
import { oneProcess } from '../ports/session-directory.ts';
import type { KeyBook } from '../runtime/access/key-book.ts';
import { LocalBus } from '../runtime/bus/local-bus.ts';
import type { ClusterBus, ClusterBusDeps } from '../runtime/cluster/cluster-bus.ts';
import { LiveMachines } from '../runtime/machines/live-machines.ts';
import { ClientToolCalls } from '../runtime/requests/client-tool-calls.ts';
import { KeyedRequests } from '../runtime/requests/keyed-requests.ts';
import { LogBackups } from '../runtime/requests/log-backups.ts';
import { logSize } from '../runtime/requests/log-size.ts';
import { answerForNodes } from '../runtime/requests/node-requests.ts';
import { Readiness } from '../runtime/requests/readiness.ts';
import { answerRequests } from '../runtime/requests/request-handlers.ts';
import { Journal } from '../runtime/sessions/journal.ts';
import type { LogReaders } from '../runtime/sessions/log-readers.ts';
import { SessionArchive } from '../runtime/sessions/session-archive.ts';
import { SessionFold } from '../runtime/sessions/session-fold.ts';
import { SessionRegistry } from '../runtime/sessions/session-registry.ts';
import { SessionRetention } from '../runtime/sessions/session-retention.ts';
import { SessionSnapshots } from '../runtime/sessions/session-snapshots.ts';
import { StartRecovery } from '../runtime/sessions/start-recovery.ts';
import type { WorkingMemory } from '../runtime/sessions/working-memory.ts';
import { ForwardedRequests } from '../runtime/tools/forwarded-requests.ts';
import { McpSupervisor } from '../runtime/tools/mcp-supervisor.ts';
import { RuleWatch } from '../runtime/tools/rule-watch.ts';
import { ServerBook } from '../runtime/tools/server-book.ts';
import { WatchedResources } from '../runtime/tools/watched-resources.ts';
import type { Clock } from '../timing/clock.ts';
import { nextLoop } from '../timing/next-loop.ts';
import { retryDelayMs } from '../timing/retry-delay.ts';
import { openGrants } from './access/open-grants.ts';
import type { Adapters } from './adapters/adapters.ts';
import { observed } from './adapters/observed-adapters.ts';
import type { Agent } from './agent.ts';
import { AgentInForce } from './agent-in-force.ts';
import { beginWork } from './begin-work.ts';
import { closeInOrder, disposing } from './close-in-order.ts';
import { followOthers } from './cluster/follow-others.ts';
import { logReaders, sessionBudget } from './memory-budgets.ts';
import { showHeldSignals } from './metrics/cluster-metrics.ts';
import { showRuntime } from './metrics/runtime-metrics.ts';
import { SampledMetrics } from './metrics/sampled-metrics.ts';
import { countSignals } from './metrics/session-metrics.ts';
import { AgentPushes } from './push/agent-pushes.ts';

export interface AgentOptions extends Omit<LoadedAgent, 'path'> {
  readonly adapters: Adapters;
  readonly log: Logger;
  /** Says when old sessions are looked for. A simulated one, in tests. */
  readonly clock?: Clock | undefined;
  /** The API keys that clients may manage. Left out where the service has none. */
  readonly keys?: KeyBook | undefined;
  /** Whether sessions belong to somebody, who may share them. */
  readonly hasOwners?: boolean;
  /** Called once, when idle sessions take half of the memory that they may take. */
  readonly onSessionsFilling?: () => void;
  /** Shared by all agents of the process. */
  readonly workingMemory?: WorkingMemory;
  /** Shared by all agents of the process. */
  readonly readers?: LogReaders;
  /** Shared by all agents of the process. */
  readonly backups?: LogBackups;
}

/** Builds the agent and starts its tool servers. Each part uses parts above it, except that sessions end their grants. */
export async function composeAgent({
  config,
  raw,
  agentVersion,
  adapters,
  log,
  clock,
  keys,
  hasOwners = false,
  onSessionsFilling,
  workingMemory = sessionBudget(),
  readers = logReaders(clock),
  backups = new LogBackups(adapters.backup),
}: AgentOptions): Promise<Agent> {
  const { llm, mcpServers } = config;

  const bus = new LocalBus((error, { sessionId }) =>
    log.error({ sessionId, err: error }, 'a listener failed'),
  );
  const metrics = new SampledMetrics(adapters.metrics);
  const seen = observed({ ...adapters, metrics }, llm, bus);
  const { store, model, connector, tracing, watchModel, onLoaded } = seen;
  const journal = new Journal(store, bus);
  const { cluster, streamPrefix: prefix = '' } = adapters;
  const clusterBus = cluster && (await joinCluster({ cluster, prefix, local: bus, log }));
  // Where several nodes share the sessions, a request goes to the node that owns its session.
  const routedBus = clusterBus ?? bus;
  const machines = new LiveMachines();

  const book = new ServerBook(store, adapters.secrets, log, { isShared: cluster !== undefined });
  const supervisor = new McpSupervisor(
    { connector, authorizations: adapters.authorizations, log, retryDelayMs, machines },
    book,
  );
  const servers = supervisor.servers;
  // The span of a model call is a child of the turn's span, which begins when the message is in the log.
  const callsEarly = adapters.tracing === undefined;
  const inForce = new AgentInForce(
    { config, raw, agentVersion, model },
    { supervisor, schemas: adapters.schemas, bus, log, machines, callsEarly },
  );

  const ruleWatch = new RuleWatch(config.approval, servers, log);
  const clientCalls = new ClientToolCalls({
    servers,
    schemas: adapters.schemas,
    questionsOf: (serverId) => inForce.questionsOf(serverId),
    tell: (callId, signal) => bus.publishToolCall(callId, signal),
  });

  const connectionOf = (serverId: string) => servers.connectionOf(serverId);
  const isListed = (serverId: string) => servers.find(serverId) !== undefined;
  const watched = new WatchedResources({ connectionOf, isListed, log });
  servers.onConnected((serverId) => watched.connected(serverId));
  servers.onOfferChange((change) => {
    watched.hear(change);
    bus.publishOfferChange(change);
  });
  const forwarded = new ForwardedRequests({
    connectionOf,
    tools: () => inForce.callableTools(),
    tell: (callId, signal) => bus.publishToolCall(callId, signal),
    clock,
  });

  const snapshots = new SessionSnapshots(adapters.snapshots, log);
  const fold = new SessionFold({ journal, snapshots, readers });
  const sessions = new SessionRegistry({
    journal,
    bus,
    turns: inForce.turns,
    policy: inForce,
    log,
    fold,
    snapshots,
    directory: clusterBus?.directory ?? oneProcess,
    maxIdleBytes: config.sessions.memoryMb * MEGABYTE,
    workingMemory,
    onLoaded,
    ...(onSessionsFilling && { onFilling: onSessionsFilling }),
    // The one cycle: grants, which need the sessions, are opened below.
    alsoForget: (sessionId) => grants?.endAll(sessionId),
  });
  const recovery = new StartRecovery();
  const archive = new SessionArchive({ journal, fold, sessions, recovery });
  const retention = SessionRetention.of(config.sessions.retentionDays, { journal, sessions, log, clock });

  const requests = new KeyedRequests(store, log, { nodes: cluster?.membership });
  const readiness = new Readiness({ probe: () => store.probe(), isDraining: () => sessions.isDraining, log });
  const requestDeps = {
    journal,
    sessions,
    readers,
    archive,
    supervisor,
    clientCalls,
    forwarded,
    watched,
    callableTools: () => inForce.callableTools(),
    log,
    machines,
    requests,
    readiness,
    warnings: () => [...ruleWatch.warnings(), ...book.warnings(), ...(cluster?.warnings ?? [])],
    schemas: adapters.schemas,
    backups,
    logSize: () => logSize(store, log),
    describeAgent: () => inForce.describe(),
    exportConfig: () => inForce.export(),
  };
  answerRequests(bus, requestDeps);
  answerForNodes(bus, cluster?.membership);
  if (keys) await answerKeyRequests(bus, keys);
  const pushes = new AgentPushes({
    bus: routedBus,
    local: bus,
    store,
    secrets: adapters.secrets,
    log,
    metrics,
    clock,
    allowPrivateAddresses: config.a2a.push.allowPrivateAddresses,
    nodes: cluster && { membership: cluster.membership, prefix },
  });
  const grants = hasOwners ? await openGrants({ store, bus, sessions, log }) : undefined;
  countSignals(bus, metrics);
  showRuntime(metrics, { sessions, servers, retention });
  if (clusterBus) showHeldSignals(metrics, clusterBus);

  const begun = await beginWork({
    supervisor,
    book,
    inFile: mcpServers,
    sessions,
    journal,
    pushes,
    requests,
    log,
    authorizations: adapters.authorizations,
    shared: cluster &&
      clusterBus && {
        bus: clusterBus,
        follow: () => followOthers(cluster, prefix, { supervisor, grants, keys, log }),
      },
  });
  void recovery.follow(begun.recovered);

  return {
    bus: routedBus,
    get identity() {
      return inForce.identity;
    },
    get modelLabel() {
      return inForce.modelLabel;
    },
    get agentVersion() {
      return inForce.agentVersion;
    },
    exposes: new Set(config.mcp.expose),
    authorizations: adapters.authorizations,
    keys,
    grants,
    secrets: adapters.secrets,
    machines,
    metrics,
    toolServers: begun.toolServers,
    recovered: begun.recovered,
    openTurns: () => sessions.loaded.openTurns,
    takeOver: ({ model: next, ...definition }) =>
      inForce.takeOver({ ...definition, model: watchModel(next, definition.config.llm) }, ruleWatch),
    async drain(timeoutMs) {
      retention?.stop();
      await (clusterBus ?? sessions).drain(timeoutMs);
      // Lets the last answers reach their clients before the sockets close.
      await nextLoop();
    },
    async close() {
      await begun.stop();
      requests.stop();
      const parts = [pushes, retention, supervisor, requests, snapshots, cluster, store, tracing];
      await closeInOrder(...parts.map(disposing));
    },
  };
}

/** Loads what only several nodes need. */
async function joinCluster(deps: ClusterBusDeps): Promise<ClusterBus> {
  const { ClusterBus } = await import('../runtime/cluster/cluster-bus.ts');
  return new ClusterBus(deps);
}

/** Loads the handlers only where the service has API keys. */
async function answerKeyRequests(bus: LocalBus, keys: KeyBook): Promise<void> {
  const { answerForKeys } = await import('../runtime/requests/key-requests.ts');
  answerForKeys(bus, keys);
}
