import { ServiceError } from '../../core/errors.ts';
import type { Authenticator } from '../../ports/authenticator.ts';
import type { Peers } from '../../ports/peers.ts';
import type { HttpResponse } from '../../ports/web-server.ts';
import type { ServedRequest } from '../http/http-message.ts';
import { checkMessageSize } from '../requests/message-size.ts';
import { decodeText } from '../requests/request-fields.ts';
import type { SignalFanOut } from '../stream/signal-fan-out.ts';
import type { AgentSurfaceDeps } from './agent/agent-deps.ts';
import { tooLargeBatch } from './batches.ts';
import { McpBody } from './json-rpc-body.ts';
import { LazyMcp } from './lazy-mcp.ts';
import { unreadBody, wrongMethod } from './mcp-exchange.ts';
import { MCP_PATH } from './mcp-path.ts';
import { scopesOf } from './mcp-scopes.ts';
import { McpSessions } from './sessions/mcp-sessions.ts';
import { StatelessMcp } from './stateless/stateless-mcp.ts';

export interface McpEndpointDeps extends AgentSurfaceDeps {
  readonly fanOut: SignalFanOut;
  readonly authenticator: Pick<Authenticator, 'require' | 'noteRefusal'>;
  readonly peers?: Peers | undefined;
}

/**
 * `/mcp`: an MCP server over streamable HTTP. Clients up to 2025-11-25 have sessions; those from 2026-07-28 on say all in each
 * request.
 */
export class McpEndpoint implements Disposable {
  readonly #agent: AgentSurfaceDeps;
  readonly #authenticator: Pick<Authenticator, 'require'>;
  readonly #mcp: LazyMcp;
  readonly #sessions: McpSessions;
  readonly #stateless: StatelessMcp;

  constructor({ peers, fanOut, authenticator, ...agent }: McpEndpointDeps) {
    this.#agent = agent;
    this.#authenticator = authenticator;
    this.#mcp = new LazyMcp(agent);
    this.#sessions = new McpSessions({ ...agent, mcp: this.#mcp, fanOut, authenticator, peers });
    this.#stateless = new StatelessMcp(this.#mcp, agent.log);
  }

  /** Number of MCP sessions. */
  get sessions(): number {
    return this.#sessions.sessions;
  }

  async handle(request: ServedRequest): Promise<HttpResponse> {
    const refusal = wrongMethod(request.method);
    if (refusal) return refusal;
    const body = await this.#bodyOf(request);
    if (body instanceof ServiceError) return unreadBody(body);
    const tooLarge = tooLargeBatch(body);
    if (tooLarge) return tooLarge;
    // A batch counts as often as its messages would if each came alone.
    request.use?.further(body.messages.length - 1);
    const scopes = scopesOf(body.messages, this.#agent.exposes);
    if (scopes.length > 0)
      this.#authenticator.require?.(request.context, scopes, `${request.method} ${MCP_PATH}`);
    return (await this.#isOlder(request, body))
      ? this.#sessions.handle(request, body)
      : this.#stateless.handle(request, body);
  }

  /** An error if the body is too large, not UTF-8 or nested too deeply. */
  async #bodyOf(request: ServedRequest): Promise<McpBody | ServiceError> {
    try {
      const bytes = await request.body();
      checkMessageSize(bytes, bytes.length, this.#agent.maxRequestBytes);
      return new McpBody(decodeText(bytes));
    } catch (error) {
      // The client learns from the headers of that one where it gets another credential.
      if (error instanceof ServiceError && error.code !== 'UNAUTHORIZED') return error;
      throw error;
    }
  }

  async #isOlder({ method, headers }: ServedRequest, body: McpBody): Promise<boolean> {
    // Only requests of the older era have no body, and only its servers say what is wrong with one that is not JSON.
    if (method !== 'POST' || body.json === undefined) return true;
    const { sdk } = await this.#mcp.load();
    const header = (name: string) => headers.get(name);
    const { kind } = sdk.classifyInboundRequest({
      httpMethod: method,
      ...optional('protocolVersionHeader', header('mcp-protocol-version')),
      ...optional('mcpMethodHeader', header('mcp-method')),
      ...optional('mcpNameHeader', header('mcp-name')),
      body: body.json,
    });
    return kind === 'legacy';
  }

  /**
   * Forgets all sessions; the web server cuts their streams. Closing them would cancel the running turns, which
   * continue after the next start.
   */
  [Symbol.dispose](): void {
    this.#sessions[Symbol.dispose]();
    this.#stateless[Symbol.dispose]();
  }
}

function optional<K extends string>(key: K, value: string | undefined): { [name in K]?: string } {
  const found: { [name in K]?: string } = {};
  if (value !== undefined) found[key] = value;
  return found;
}
