import { setImmediate as nextLoop } from 'node:timers/promises';
import type { AgentConfig } from '../contract/agent-config.ts';
import type { Log } from '../ports/log.ts';
import type { Metrics } from '../ports/metrics.ts';
import { Bus } from '../runtime/bus.ts';
import { Journal } from '../runtime/journal.ts';
import { KeyedRequests } from '../runtime/keyed-requests.ts';
import { LiveMachines } from '../runtime/live-machines.ts';
import { type FirstAttempt, McpSupervisor } from '../runtime/mcp-supervisor.ts';
import { Readiness } from '../runtime/readiness.ts';
import { answerRequests } from '../runtime/request-handlers.ts';
import { retryDelayMs } from '../runtime/retry-delay.ts';
import { ServerBook } from '../runtime/server-book.ts';
import { SessionArchive } from '../runtime/session-archive.ts';
import { SessionFold } from '../runtime/session-fold.ts';
import { SessionRegistry } from '../runtime/session-registry.ts';
import { SessionSnapshots } from '../runtime/session-snapshots.ts';
import { ToolCatalog } from '../runtime/tool-catalog.ts';
import { TurnRunner } from '../runtime/turn-runner.ts';
import type { Adapters } from './adapters.ts';
import { exportAgentYaml } from './config/export-agent.ts';
import { showRuntime } from './metrics/runtime-metrics.ts';
import { countSignals } from './metrics/session-metrics.ts';
import { observed } from './observed-adapters.ts';

export interface AgentOptions {
  readonly config: AgentConfig;
  /** The agent file as written, for the export. */
  readonly raw: Readonly<Record<string, unknown>>;
  readonly adapters: Adapters;
  readonly log: Log;
}

/** The agent, without any protocol around it: all that it can be asked goes over its bus. */
export interface Agent {
  readonly bus: Bus;
  readonly modelLabel: string;
  /** For the inspector. */
  readonly machines: LiveMachines;
  readonly metrics: Metrics;
  /** How the tool servers do that were started with the agent. */
  readonly toolServers: readonly FirstAttempt[];
  /** Resolves when every turn that was open at the last stop goes on. */
  readonly recovered: Promise<void>;
  /** Takes no more messages and lets running turns finish, for so long. What is left open goes on at the next start. */
  drain(timeoutMs: number): Promise<void>;
  /** Ends the tool servers and closes the log. */
  close(): Promise<void>;
}

/** Builds the agent and starts its tool servers. Read it downwards: each part stands on those above it. */
export async function composeAgent({ config, raw, adapters, log }: AgentOptions): Promise<Agent> {
  const { llm, limits, systemPrompt, mcpServers } = config;

  const bus = new Bus((error, { sessionId }) => log.error({ sessionId, err: error }, 'a listener failed'));
  const { store, model, connector, metrics, tracing } = observed(adapters, config.llm, bus);
  const journal = new Journal(store, bus);
  const machines = new LiveMachines();
  const book = new ServerBook(store);
  const servers = new McpSupervisor({ connector, log, retryDelayMs, machines }, book);
  const catalog = new ToolCatalog(servers, adapters.schemas, config.approval);
  const { maxSteps, stepTimeoutMs } = llm;
  const historyTokens = config.history.maxTokens;
  const turns = new TurnRunner({
    model,
    systemPrompt,
    historyTokens,
    maxSteps,
    stepTimeoutMs,
    catalog,
    bus,
    log,
    machines,
  });
  const policy = { queuedMessages: limits.queuedMessages, whenBusy: config.sessions.whenBusy };
  const snapshots = new SessionSnapshots(adapters.snapshots, log);
  const fold = new SessionFold(journal, snapshots);
  const sessions = new SessionRegistry({ journal, bus, turns, policy, log, fold, snapshots });
  const exportConfig = (): string => exportAgentYaml(raw, serverChanges(mcpServers, servers.configs()));
  const archive = new SessionArchive(journal, fold, sessions);
  const requests = new KeyedRequests(store, log);
  const readiness = new Readiness({ probe: () => store.probe(), isDraining: () => sessions.isDraining, log });
  const served = { journal, sessions, archive, servers, catalog, machines, requests, readiness };
  answerRequests(bus, { ...served, exportConfig });
  countSignals(bus, metrics);
  showRuntime(metrics, sessions, servers);
  const toolServers = servers.start(mcpServers, await book.load());
  const recovered = sessions.recover().catch((error: unknown) => {
    log.error({ err: error }, 'open turns could not be looked for');
  });
  // Nobody waits for it but who uses a key meanwhile.
  void requests.sweep();

  return {
    bus,
    modelLabel: model.label,
    machines,
    metrics,
    toolServers,
    recovered,
    async drain(timeoutMs) {
      await sessions.drain(timeoutMs);
      // The last answers are on their way to those who wait for them; a stop now would cut them off.
      await nextLoop();
    },
    async close() {
      await recovered;
      requests.stop();
      await servers[Symbol.asyncDispose]();
      await requests[Symbol.asyncDispose]();
      await snapshots[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
      await tracing?.[Symbol.asyncDispose]();
    },
  };
}

type Servers = AgentConfig['mcpServers'];

function serverChanges(inFile: Servers, now: Servers): Parameters<typeof exportAgentYaml>[1] {
  const removed = new Set(Object.keys(inFile).filter((name) => !Object.hasOwn(now, name)));
  const added = Object.fromEntries(
    Object.entries(now).filter(([name, server]) => !Object.hasOwn(inFile, name) || inFile[name] !== server),
  );
  return { removed, added };
}
