import { pathToFileURL } from 'node:url';
import { exportAgentYaml, runtimeServers } from '../config/export/export-agent.ts';
import type { LoadedAgent } from '../config/reading/agent-file.ts';
import type { AgentDescription, AgentIdentity, AgentVersion } from '../core/agent-description.ts';
import type { SessionPolicy } from '../core/session/session-decider.ts';
import type { WhenBusy } from '../core/session/when-busy.ts';
import type { CallableTool } from '../core/tool-server/forwarded-request.ts';
import type { LanguageModel } from '../ports/language-model.ts';
import type { SchemaCheck } from '../ports/schema-check.ts';
import type { QuestionSettings } from '../ports/turn-tools.ts';
import type { McpServer } from '../runtime/tools/mcp-server.ts';
import type { McpSupervisor } from '../runtime/tools/mcp-supervisor.ts';
import type { RuleWatch } from '../runtime/tools/rule-watch.ts';
import type { ServerChanges } from '../runtime/tools/server-changes.ts';
import { ToolCatalog } from '../runtime/tools/tool-catalog.ts';
import { RefCount } from '../runtime/turns/ref-count.ts';
import type { TurnDeps } from '../runtime/turns/turn-deps.ts';
import { TurnRunner } from '../runtime/turns/turn-runner.ts';
import { agentIdentity, describeAgent } from './describe-agent.ts';

/** An agent file as it was read, and the model that it names. */
export interface AgentDefinition extends Omit<LoadedAgent, 'path'> {
  readonly model: LanguageModel;
}

export interface InForceDeps
  extends Pick<TurnDeps, 'bus' | 'log' | 'machines'>,
    Required<Pick<TurnDeps, 'callsEarly'>> {
  readonly supervisor: McpSupervisor;
  readonly schemas: SchemaCheck;
}

/** A version of the agent, as its turns have it. */
interface Version {
  readonly uses: RefCount;
  /** The tool servers that they may call. Null for the version that is in force: it may get others. */
  servers: ReadonlySet<McpServer> | null;
}

/** What came of reading an agent file again. */
export interface TakenOver {
  readonly agentVersion: AgentVersion;
  readonly servers: ServerChanges;
}

/**
 * The agent as its file says it now. The file may be read again: turns that begin later run with what it says then, and
 * turns that run keep to what it said when they began, their tool servers included.
 */
export class AgentInForce implements SessionPolicy {
  readonly turns: TurnRunner;
  readonly #deps: InForceDeps;
  #definition: AgentDefinition;
  #catalog: ToolCatalog;
  /** The versions that turns may run with, the current one last. */
  #versions: Version[] = [];

  constructor(definition: AgentDefinition, deps: InForceDeps) {
    this.#deps = deps;
    this.#definition = definition;
    this.#catalog = this.#newCatalog(definition);
    this.turns = new TurnRunner(this.#turnDeps());
  }

  get agentVersion(): AgentVersion {
    return this.#definition.agentVersion;
  }

  get queuedMessages(): number | false {
    return this.#definition.config.limits.queuedMessages;
  }

  get whenBusy(): WhenBusy {
    return this.#definition.config.sessions.whenBusy;
  }

  get identity(): AgentIdentity {
    return agentIdentity(this.#definition.config);
  }

  get modelLabel(): string {
    return this.#definition.model.label;
  }

  questionsOf(serverId: string): QuestionSettings {
    return this.#catalog.questionsOf(serverId);
  }

  describe(): AgentDescription {
    const { config, raw } = this.#definition;
    return describeAgent(config, raw, this.#catalog);
  }

  /** The tools that clients may call by themselves, or after they have approved the call. */
  callableTools(): CallableTool[] {
    return this.#catalog
      .available()
      .flatMap(({ tool: _, ...callable }) => (callable.policy === 'deny' ? [] : [callable]));
  }

  /** The agent file without secrets, with the servers that were connected at run time. */
  export(): string {
    const { config, raw } = this.#definition;
    return exportAgentYaml(raw, runtimeServers(config.mcpServers, this.#deps.supervisor.servers.configs()));
  }

  /** From now on, turns begin with this definition. Resolves at once; servers end when the last turn with them is over. */
  takeOver(next: AgentDefinition, ruleWatch: RuleWatch): TakenOver {
    const { supervisor, log } = this.#deps;
    this.#catalog.freeze();
    const current = this.#versions.at(-1);
    if (current) current.servers = new Set(supervisor.servers.all);
    this.#versions = this.#versions.filter(({ uses }) => uses.isUsed);
    const { changes, retired } = supervisor.takeOver(next.config.mcpServers);
    const inUse = this.#versions;
    this.#definition = next;
    this.#catalog = this.#newCatalog(next);
    this.turns.use(this.#turnDeps());
    ruleWatch.use(next.config.approval);
    for (const server of retired)
      this.#giveUp(server, inUse).catch((err: unknown) =>
        log.warn({ err }, 'a tool server that the agent has no more did not end cleanly'),
      );
    return { agentVersion: next.agentVersion, servers: changes };
  }

  /** Ends the server when no turn of these versions can use it any more. A later server is none of an older version. */
  async #giveUp(server: McpServer, inUse: readonly Version[]): Promise<void> {
    const users = inUse.filter(({ servers }) => servers?.has(server));
    await Promise.all(users.map(({ uses }) => uses.unused()));
    await this.#deps.supervisor.giveUp(server);
  }

  #newCatalog({ config, model }: AgentDefinition): ToolCatalog {
    const { supervisor, schemas, log } = this.#deps;
    const { approval, clientTools, elicitation, roots } = config;
    const fileUrl = (path: string): string => pathToFileURL(path).href;
    const settings = { approval, clientTools, elicitation, roots, fileUrl };
    return new ToolCatalog(supervisor.servers, schemas, { ...settings, maxTools: model.maxTools, log });
  }

  #turnDeps(): TurnDeps {
    const { bus, log, machines, callsEarly } = this.#deps;
    const { config, agentVersion, model } = this.#definition;
    const { maxSteps, stepTimeoutMs, keepReasoning } = config.llm;
    const catalog = this.#catalog;
    const uses = new RefCount();
    this.#versions.push({ uses, servers: null });
    return {
      agentVersion,
      uses,
      model,
      catalog,
      bus,
      log,
      machines,
      callsEarly,
      maxSteps,
      stepTimeoutMs,
      keepReasoning,
      systemPrompt: config.systemPrompt,
      historyTokens: config.history.maxTokens,
    };
  }
}
