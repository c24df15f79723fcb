import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { scriptableTools } from './scriptable-tools.ts';

export interface AuthorizingOptions {
  /** Of tokens, in seconds. */
  readonly lifetimeSeconds?: number;
  /** The scope without which no tool may be called. */
  readonly callScope?: string;
  /** Instead of its issuer, as `iss` of its answers. */
  readonly iss?: string;
  /** The path whose answers are far too long. */
  readonly floods?: string;
}

export interface RefreshAnswer {
  readonly status: number;
  /** The code of the error. */
  readonly error: string;
}

interface Grant {
  readonly challenge: string;
  readonly scope: string;
}

/** Starts a tool server that takes only tokens of its authorization server, which is at the same address. */
export async function authorizingServer(options: AuthorizingOptions = {}): Promise<AuthorizingServer> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return new AuthorizingServer(server, options);
}

/** Agrees to everything without a question. */
export class AuthorizingServer implements AsyncDisposable {
  readonly issuer: string;
  /** Requests for tokens so far. */
  readonly tokenRequests: { readonly grant: string; readonly parameters: URLSearchParams }[] = [];
  /** Every token and code that it gave. */
  readonly secrets: string[] = [];
  registrations = 0;
  readonly #server: Server;
  readonly #options: AuthorizingOptions;
  #authorizationServer: string;
  readonly #codes = new Map<string, Grant>();
  /** Scopes by token. */
  readonly #access = new Map<string, string>();
  readonly #refresh = new Map<string, string>();
  #refreshAnswer: RefreshAnswer | null = null;

  constructor(server: Server, options: AuthorizingOptions) {
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('not a TCP server');
    this.issuer = `http://127.0.0.1:${address.port}`;
    this.#authorizationServer = this.issuer;
    this.#server = server;
    this.#options = options;
    server.on('request', (req: IncomingMessage, res: ServerResponse) => {
      this.#handle(req, res).catch((error: unknown) =>
        res.destroy(error instanceof Error ? error : undefined),
      );
    });
  }

  /** Of the tool server. */
  get url(): string {
    return `${this.issuer}/mcp`;
  }

  /** From now on the tool server names another authorization server. */
  nameAuthorizationServer(issuer: string): void {
    this.#authorizationServer = issuer;
  }

  /** From now on no access token is good that was given before. */
  expire(): void {
    this.#access.clear();
  }

  /** From now on no token is good that was given before, refresh tokens neither. */
  revoke(): void {
    this.expire();
    this.#refresh.clear();
  }

  /** From now on it renews nothing. The tokens that it gave are good as long as they are. */
  renewNothing(): void {
    this.#refresh.clear();
  }

  /** From now on each refresh is answered so, and the refresh tokens stay as they are. Null: as they deserve. */
  answerRefreshes(answer: RefreshAnswer | null): void {
    this.#refreshAnswer = answer;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  async #handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const url = new URL(req.url ?? '/', this.issuer);
    if (url.pathname === this.#options.floods) return flood(res);
    switch (url.pathname) {
      case '/.well-known/oauth-protected-resource/mcp':
        json(res, 200, { resource: this.url, authorization_servers: [this.#authorizationServer] });
        return;
      case '/.well-known/oauth-authorization-server':
        json(res, 200, metadataOf(this.issuer));
        return;
      case '/register':
        this.registrations += 1;
        json(res, 201, { ...JSON.parse(await text(req)), client_id: `client-${this.registrations}` });
        return;
      case '/authorize':
        this.#authorize(url.searchParams, res);
        return;
      case '/token':
        this.#answerToken(new URLSearchParams(await text(req)), res);
        return;
      case '/mcp':
        await this.#runTools(req, res);
        return;
      default:
        res.writeHead(404).end();
    }
  }

  #authorize(asked: URLSearchParams, res: ServerResponse): void {
    const code = this.#secret('code');
    this.#codes.set(code, { challenge: asked.get('code_challenge') ?? '', scope: asked.get('scope') ?? '' });
    const back = new URL(asked.get('redirect_uri') ?? '');
    back.searchParams.set('code', code);
    back.searchParams.set('state', asked.get('state') ?? '');
    back.searchParams.set('iss', this.#options.iss ?? this.issuer);
    res.writeHead(302, { Location: back.href }).end();
  }

  #answerToken(parameters: URLSearchParams, res: ServerResponse): void {
    const grant = parameters.get('grant_type') ?? '';
    this.tokenRequests.push({ grant, parameters });
    if (grant === 'refresh_token' && this.#refreshAnswer !== null) {
      const { status, error } = this.#refreshAnswer;
      json(res, status, { error });
      return;
    }
    const scope = this.#scopeOf(grant, parameters);
    if (scope === undefined) {
      json(res, 400, { error: 'invalid_grant' });
      return;
    }
    const access_token = this.#secret('access');
    const refresh_token = this.#secret('refresh');
    this.#access.set(access_token, scope);
    this.#refresh.set(refresh_token, scope);
    const { lifetimeSeconds: expires_in = 3_600 } = this.#options;
    json(res, 200, { access_token, refresh_token, token_type: 'Bearer', expires_in, scope });
  }

  /** @returns undefined if the grant is not good. */
  #scopeOf(grant: string, parameters: URLSearchParams): string | undefined {
    if (grant === 'refresh_token') return taken(this.#refresh, parameters.get('refresh_token') ?? '');
    if (grant === 'client_credentials') return parameters.get('scope') ?? '';
    const given = taken(this.#codes, parameters.get('code') ?? '');
    const verifier = parameters.get('code_verifier') ?? '';
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    return given?.challenge === challenge ? given.scope : undefined;
  }

  async #runTools(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const [, token = ''] = req.headers.authorization?.split('Bearer ') ?? [];
    const scope = this.#access.get(token);
    const metadata = `resource_metadata="${this.issuer}/.well-known/oauth-protected-resource/mcp"`;
    if (scope === undefined) {
      // As careless servers do, it repeats what it was sent.
      res.writeHead(401, { 'WWW-Authenticate': `Bearer ${metadata}` }).end(`bad token ${token}`);
      return;
    }
    if (req.method !== 'POST') {
      res.writeHead(405).end();
      return;
    }
    const body: unknown = JSON.parse(await text(req));
    const { callScope } = this.#options;
    const isCall = JSON.stringify(body).includes('"tools/call"');
    if (isCall && callScope !== undefined && !scope.split(' ').includes(callScope)) {
      const challenge = `Bearer error="insufficient_scope", scope="${callScope}", ${metadata}`;
      res.writeHead(403, { 'WWW-Authenticate': challenge }).end();
      return;
    }
    const transport = new StreamableHTTPServerTransport({});
    await scriptableTools().connect(transport);
    await transport.handleRequest(req, res, body);
  }

  #secret(kind: string): string {
    const made = `${kind}-${randomUUID()}`;
    this.secrets.push(made);
    return made;
  }
}

/** Valid JSON, of 4 MB. */
function flood(res: ServerResponse): void {
  json(res, 200, { error: 'invalid_grant', padding: 'x'.repeat(4 * 1024 * 1024) });
}

function metadataOf(issuer: string): object {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    registration_endpoint: `${issuer}/register`,
    response_types_supported: ['code'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none', 'client_secret_basic'],
    authorization_response_iss_parameter_supported: true,
  };
}

function json(res: ServerResponse, status: number, body: object): void {
  res.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
}

function taken<T>(map: Map<string, T>, key: string): T | undefined {
  const value = map.get(key);
  map.delete(key);
  return value;
}
