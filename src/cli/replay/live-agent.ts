import { pathToFileURL } from 'node:url';
import type { Adapters } from '../../app/adapters/adapters.ts';
import { chooseAdapters } from '../../app/adapters/choose-adapters.ts';
import type { AgentConfig } from '../../config/schema/agent-config.ts';
import type { McpServerConfig } from '../../core/tool-server/mcp-server-config.ts';
import type { Logger } from '../../ports/logger.ts';
import type { LiveAgent } from '../../replay/replayed-session.ts';
import { LiveMachines } from '../../runtime/machines/live-machines.ts';
import { McpSupervisor } from '../../runtime/tools/mcp-supervisor.ts';
import { ServerBook } from '../../runtime/tools/server-book.ts';
import { ToolCatalog } from '../../runtime/tools/tool-catalog.ts';
import type { ToolServers } from '../../runtime/tools/tool-servers.ts';
import { retryDelayMs } from '../../timing/retry-delay.ts';

export interface LiveAgentOptions {
  readonly config: AgentConfig;
  /** Tool servers that were connected to the recorded service at run time. */
  readonly atRunTime: Readonly<Record<string, McpServerConfig>>;
  readonly log: Logger;
}

/** Opens the agent of an agent file, with its model and its tools, until `use` is done. */
export async function withLiveAgent<T>(
  { config, atRunTime, log }: LiveAgentOptions,
  use: (agent: LiveAgent, store: Adapters['store']) => Promise<T>,
): Promise<T> {
  const adapters = await chooseAdapters({ config, dataDir: ':memory:', environment: process.env, log });
  const { model, connector, store, schemas, secrets } = adapters;
  const machines = new LiveMachines();
  const book = new ServerBook(store, secrets, log);
  const supervisor = new McpSupervisor({ connector, log, retryDelayMs, machines }, book);
  const tools = new ToolCatalog(supervisor.servers, schemas, {
    approval: config.approval,
    clientTools: config.clientTools,
    elicitation: config.elicitation,
    roots: config.roots,
    fileUrl: (path) => pathToFileURL(path).href,
    maxTools: model.maxTools,
    log,
  });
  const { maxSteps, stepTimeoutMs } = config.llm;
  const { systemPrompt, history } = config;
  supervisor.start(config.mcpServers, atRunTime);
  try {
    await tools.ready();
    requireConnected(supervisor.servers);
    const agent = { model, systemPrompt, historyTokens: history.maxTokens, maxSteps, stepTimeoutMs, tools };
    return await use(agent, store);
  } finally {
    await supervisor[Symbol.asyncDispose]();
    await store[Symbol.asyncDispose]();
  }
}

/** A model without some of its tools would answer differently for that reason alone. */
function requireConnected(servers: ToolServers): void {
  const missing = servers.records().find(({ status }) => status !== 'connected');
  if (!missing) return;
  throw new Error(
    `the tool server ${missing.name} is not connected: ${missing.error ?? 'it did not answer in time'}. ` +
      'The model is offered its tools: start the server, or correct the agent file.',
  );
}
