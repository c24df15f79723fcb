import type { SessionId } from '../../core/ids.ts';
import type { SessionEventOf } from '../../core/log/events.ts';
import type { ApprovalConfig } from '../../core/tool-call/approval-policy.ts';
import { approvalPolicy } from '../../core/tool-call/approval-policy.ts';
import type { ClientTool, ClientToolsConfig } from '../../core/tool-call/client-tool.ts';
import type { ToolOutcome } from '../../core/tool-call/tool.ts';
import { nameToolsForModel } from '../../core/tool-call/tool-names.ts';
import type { ElicitationConfig } from '../../core/tool-server/elicitation-config.ts';
import { type RootConfig, rootOf } from '../../core/tool-server/root.ts';
import type { AnswerQuestion } from '../../core/tool-server/server-question.ts';
import type { OutputFormat } from '../../core/turn/output-format.ts';
import type { Logger } from '../../ports/logger.ts';
import type { SchemaCheck } from '../../ports/schema-check.ts';
import type {
  NamedTool,
  OfferedTool,
  QuestionSettings,
  ToolOffer,
  TurnTools,
} from '../../ports/turn-tools.ts';
import { ownerPrefixOf } from '../access/owner-prefixes.ts';
import { FrozenServers } from './frozen-servers.ts';
import { requestedCalls } from './requested-calls.ts';
import type { ToolServers } from './tool-servers.ts';

export interface CatalogOptions {
  readonly approval: ApprovalConfig;
  readonly clientTools: ClientToolsConfig;
  readonly elicitation: ElicitationConfig;
  /** For servers that have none of their own. */
  readonly roots: readonly RootConfig[];
  /** Makes a `file://` URI of a path. */
  readonly fileUrl: (path: string) => string;
  /** Most tools that the model accepts. No limit when left out. */
  readonly maxTools?: number | undefined;
  readonly log: Logger;
}

/** The tools of all connected servers: offers them to the model and calls them for it. */
export class ToolCatalog implements TurnTools {
  readonly #list: ToolServers;
  readonly #schemas: SchemaCheck;
  readonly #options: CatalogOptions;
  /** Null while the servers are those that the list has now. */
  #frozen: FrozenServers | null = null;
  #offer: { readonly revision: number; readonly offer: ToolOffer } | null = null;

  constructor(servers: ToolServers, schemas: SchemaCheck, options: CatalogOptions) {
    this.#list = servers;
    this.#options = options;
    this.#schemas = schemas;
  }

  /**
   * Keeps to the servers that the list has now. A later one belongs to other approval rules than those of this catalog,
   * also if it has the name of one of these.
   */
  freeze(): void {
    this.#frozen ??= new FrozenServers(this.#list);
  }

  /** Null when every configured server has finished its first attempt. Otherwise resolves when they have. */
  ready(): Promise<void> | null {
    return this.#servers.firstAttempts();
  }

  /** The tools of all connected servers, also those that the model may not call. */
  available(): OfferedTool[] {
    const { approval } = this.#options;
    const { expiresAfterMs } = approval;
    const expiry = expiresAfterMs !== undefined && { expiresAfterMs };
    return this.#servers
      .connectedTools()
      .map((tool) => ({ ...tool, policy: approvalPolicy(approval, tool), ...expiry }));
  }

  /** The tools under the names that the model knows. Rebuilt only when they have changed. */
  forModel(clientTools: readonly ClientTool[] = []): ToolOffer {
    if (clientTools.length > 0) return this.#offerOf(this.available(), clientTools);
    const { revision } = this.#servers;
    if (this.#offer?.revision !== revision) {
      this.#offer = { revision, offer: this.#offerOf(this.available()) };
    }
    return this.#offer.offer;
  }

  async outputIssue(
    { schema }: OutputFormat,
    reply: string,
    sessionId: SessionId,
  ): Promise<string | undefined> {
    let value: unknown;
    try {
      value = JSON.parse(reply);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      return 'it is not JSON';
    }
    const { issue, unusable } = await this.#schemas.ofClient(schema, value, ownerPrefixOf(sessionId));
    return unusable === undefined ? issue : `the schema itself cannot be used (${unusable})`;
  }

  #offerOf(available: readonly OfferedTool[], clientTools: readonly ClientTool[] = []): ToolOffer {
    const { maxTools = Number.POSITIVE_INFINITY, log } = this.#options;
    const lent = new Map(clientTools.map((tool) => [tool.name, this.#lentTool(tool)]));
    // Denied tools get names too: the model may know them from earlier.
    const names = new Map<string, NamedTool>([
      ...lent,
      ...nameToolsForModel(available, new Set(lent.keys())),
    ]);
    const allowed = [...names].filter(([, { policy }]) => policy !== 'deny');
    const leftOut = allowed.slice(maxTools).map(([name]) => name);
    if (leftOut.length > 0) {
      const problem = `the model takes ${maxTools} tools at most, and ${leftOut.length} are not offered to it`;
      log.warn({ tools: leftOut }, `${problem}; deny tools under approval to choose which`);
    }
    const tools = allowed.slice(0, maxTools).map(([name, { tool }]) => ({
      name,
      description: tool.description,
      inputSchema: tool.inputSchema,
    }));
    return {
      tools,
      resolve: (raw, messages, sessionId) =>
        requestedCalls(raw, { names, messages, sessionId }, this.#schemas),
    };
  }

  #lentTool(tool: ClientTool): NamedTool {
    const { expiresAfterMs } = this.#options.clientTools;
    return {
      tool: { ...tool, repeatable: false },
      serverId: null,
      policy: 'auto',
      byClient: true,
      expiresAfterMs,
    };
  }

  questionsOf(serverId: string | null): QuestionSettings {
    const { elicitation, fileUrl, ...options } = this.#options;
    const server = serverId === null ? undefined : this.#servers.configOf(serverId);
    const roots = (server?.roots ?? options.roots).map((root) => rootOf(root, fileUrl));
    return { roots, sampling: server?.sampling, expiresAfterMs: elicitation.expiresAfterMs };
  }

  /** Runs a call of the model. Never rejects: the model is told how the call ended. */
  async call(
    call: SessionEventOf<'tool-call.requested'>,
    signal: AbortSignal,
    onQuestion: AnswerQuestion,
  ): Promise<ToolOutcome> {
    const { serverId, toolName } = call;
    const connection = serverId === null ? undefined : this.#servers.connectionOf(serverId);
    if (!connection) return { status: 'failed', reason: `the server ${serverId ?? ''} is not connected` };
    const { turnId, callId } = call;
    const origin = { turnId, callId };
    return connection.callTool(toolName, call.arguments, { signal, origin, onQuestion });
  }

  get #servers(): ToolServers | FrozenServers {
    return this.#frozen ?? this.#list;
  }
}
