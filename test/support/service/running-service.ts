import { randomUUID } from 'node:crypto';
import { createServer } from 'node:net';
import { accessBy, type ClientAccess } from '../../../src/app/access/client-access.ts';
import { openKeyBook } from '../../../src/app/access/open-key-book.ts';
import type { Adapters } from '../../../src/app/adapters/adapters.ts';
import { chooseAdapters, chooseModel } from '../../../src/app/adapters/choose-adapters.ts';
import { hostAgents } from '../../../src/app/agents/agent-host.ts';
import type { AgentHost } from '../../../src/app/agents/hosted-agents.ts';
import { readPackageVersion } from '../../../src/app/package-root.ts';
import { serveHttp } from '../../../src/app/serve-http.ts';
import { parseAgentFile } from '../../../src/config/reading/agent-file.ts';
import { AuthConfig } from '../../../src/config/schema/auth-config.ts';
import { DEFAULT_TENANT } from '../../../src/core/access/identity.ts';
import { ONLY_AGENT } from '../../../src/core/agent-description.ts';
import type { Logger } from '../../../src/ports/logger.ts';
import type { Peers } from '../../../src/ports/peers.ts';
import type { TokenVerifier } from '../../../src/ports/token-verifier.ts';
import type { ToolServerConnector } from '../../../src/ports/tool-server.ts';
import { AuditTrail } from '../../../src/runtime/access/audit-trail.ts';
import type { Clock } from '../../../src/timing/clock.ts';
import { identity } from '../access/known-tokens.ts';
import { testBus, testStore } from '../postgres/test-store.ts';
import { type Client, connectClient } from '../sockets/websocket-client.ts';

export interface ServiceOptions {
  /** Agent file; the scripted model without tools when left out. */
  readonly yaml?: string;
  /** Several agents instead: their files, by the ids of the agents. A test may change them, and reload them. */
  readonly agents?: Record<string, string>;
  readonly mode?: 'web' | 'mcp';
  readonly dataDir?: string;
  readonly environment?: Record<string, string>;
  /** Replaces single adapters. */
  readonly adapters?: Partial<Adapters>;
  /** Puts something between the service and its tool servers. */
  readonly wraps?: (connector: ToolServerConnector) => ToolServerConnector;
  readonly log?: Logger;
  readonly port?: number;
  readonly inspect?: 'states' | 'content';
  readonly inspectToken?: string;
  /** Says when old sessions are looked for. */
  readonly clock?: Clock;
  /** Clients are authenticated, by these kinds of tokens. */
  readonly verifiers?: readonly TokenVerifier[];
  /** The settings of that. */
  readonly auth?: object;
  /** Clients are authenticated by API keys, and by the token of `adminToken`, which `fetch` and `post` send. */
  readonly apiKeys?: boolean;
}

/** Of an admin of the default tenant. */
export const adminToken = 'test-admin';
const admin: TokenVerifier = {
  principals: ['test:'],
  recognizes: (token) => token === adminToken,
  verify: () => identity('admin', { tenant: DEFAULT_TENANT, roles: ['admin'] }),
  subjectOf: () => null,
};

const UNLIMITED = Object.fromEntries(
  Object.keys(AuthConfig.parse({}).limits.tenant).map((key) => [key, false]),
);
/** Of tests that are not about the limits of clients. */
const NO_LIMITS = { principal: UNLIMITED, tenant: UNLIMITED };

function accessOf(
  { verifiers, apiKeys, auth }: ServiceOptions,
  host: AgentHost,
  audit: AuditTrail,
  peers: Peers | undefined,
): ClientAccess | undefined {
  if (!verifiers && !apiKeys) return undefined;
  const settings = AuthConfig.parse({ apiKeys, limits: NO_LIMITS, ...auth });
  const { keys } = host.first;
  const all = [...(keys ? [keys, admin] : []), ...(verifiers ?? [])];
  const access = accessBy(all, { auth: settings, agents: host.agents, trustProxy: false, audit, peers });
  keys?.onRevoked((credential) => access.revoke(credential));
  return access;
}

function storeOf({ dataDir, adapters }: ServiceOptions): string | undefined {
  if (adapters?.store) return undefined;
  return testStore(dataDir === undefined || dataDir === ':memory:' ? randomUUID() : dataDir);
}

export const SCRIPTED = 'llm: { provider: scripted, model: offline }\n';

/** The whole service in this process, on a free port, with the real web server; closed at the end of the block. */
export class RunningService implements AsyncDisposable {
  readonly port: number;
  /** Where clients are authenticated. */
  readonly access: ClientAccess | undefined;
  readonly #sendsToken: boolean;
  readonly #close: () => Promise<void>;
  #closing: Promise<void> | null = null;
  #other: RunningService | undefined;
  #turn = 0;

  private constructor(
    port: number,
    close: () => Promise<void>,
    { access, sendsToken }: { access: ClientAccess | undefined; sendsToken: boolean },
  ) {
    this.port = port;
    this.access = access;
    this.#sendsToken = sendsToken;
    this.#close = close;
  }

  static async start(options: ServiceOptions = {}): Promise<RunningService> {
    const isShared = testBus() !== undefined && !options.adapters?.store;
    if (!isShared) return RunningService.#startNode(options, storeOf(options));
    const storeUrl = storeOf(options);
    const node = await RunningService.#startNode(options, storeUrl, testBus());
    node.#other = await RunningService.#startNode({ ...options, port: 0 }, storeUrl, testBus());
    return node;
  }

  static async #startNode(
    options: ServiceOptions,
    storeUrl: string | undefined,
    busUrl?: string,
  ): Promise<RunningService> {
    const environment = { ...process.env, ...options.environment };
    const texts = options.agents ?? { [ONLY_AGENT]: options.yaml ?? SCRIPTED };
    const read = (id: string) => parseAgentFile(texts[id] ?? '', `${id}.yml`, environment);
    const [first, ...others] = Object.keys(texts).map((id) => ({ id, file: id, loaded: read(id) }));
    if (!first) throw new Error('a service needs an agent');
    const { config } = first.loaded;
    const log = options.log ?? silentLog;
    const dataDir = options.dataDir ?? ':memory:';
    const chosen = {
      ...(await chooseAdapters({ config, dataDir, storeUrl, busUrl, environment, log })),
      ...options.adapters,
    };
    const adapters = { ...chosen, ...(options.wraps && { connector: options.wraps(chosen.connector) }) };
    const peers = adapters.cluster?.messenger;
    const keys = options.apiKeys ? await openKeyBook(adapters.store, log) : undefined;
    const host = await hostAgents({
      agents: [first, ...others],
      adapters,
      log,
      keys,
      environment,
      clock: options.clock,
      hasOwners: options.verifiers !== undefined || options.apiKeys === true,
      readAgain: async (id) => {
        const loaded = read(id);
        return { ...loaded, model: await chooseModel({ config: loaded.config, environment, log }) };
      },
    });
    const { mode = 'web', port = 0, inspect, inspectToken } = options;
    const settings = { mode, host: '127.0.0.1', port, inspect, inspectToken };
    const audit = new AuditTrail({ store: adapters.store, log, days: 90 });
    const access = accessOf(options, host, audit, peers);
    const version = readPackageVersion();
    const http = await serveHttp({ host, access, config, settings, version, log, peers });
    return new RunningService(http.port, () => http.close(), {
      access,
      sendsToken: options.apiKeys === true,
    });
  }

  /** The node whose turn it is, where the service is two nodes. */
  get #node(): RunningService {
    if (!this.#other) return this;
    this.#turn += 1;
    return this.#turn % 2 === 0 ? this : this.#other;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** A request with any method, path, headers and body. */
  fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    if (this.#sendsToken && !headers.has('Authorization'))
      headers.set('Authorization', `Bearer ${adminToken}`);
    return fetch(`${this.#node.url}${path}`, { ...init, headers });
  }

  /** POST of a JSON body. */
  post(path: string, body: unknown = {}, headers: Record<string, string> = {}): Promise<Response> {
    return this.fetch(path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  }

  /** @param query such as `?session=a`. */
  connect(query = ''): Promise<Client> {
    return connectClient(`ws://127.0.0.1:${this.#node.port}/${query}`);
  }

  close(): Promise<void> {
    this.#closing ??= Promise.all([this.#other?.close(), this.#close()]).then(() => undefined);
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** A port that is free now. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

const silent = (): void => undefined;
export const silentLog: Logger = { debug: silent, info: silent, warn: silent, error: silent };
