import type { Logger } from '../../../ports/logger.ts';
import type {
  AuthorizationOutcome,
  AuthorizationResponse,
  CredentialStore,
  ServerAuthorizations,
} from '../../../ports/server-authorization.ts';
import type { HttpConfig, ServerAccess } from './server-access.ts';

export interface AuthorizationDeps {
  readonly credentials: CredentialStore;
  readonly log: Logger;
  /** Milliseconds since the epoch. A simulated clock, in tests. */
  readonly now?: () => number;
}

/** The permissions to use tool servers over HTTP. */
export class McpAuthorizations implements ServerAuthorizations {
  readonly #deps: AuthorizationDeps;
  readonly #accesses = new Map<string, ServerAccess>();
  readonly #redirectUrl = Promise.withResolvers<string | null>();

  constructor(deps: AuthorizationDeps) {
    this.#deps = deps;
  }

  /** The access of the server, which lasts over reconnections. A server that is configured anew starts anew. */
  async accessTo(name: string, config: HttpConfig): Promise<ServerAccess> {
    const { ServerAccess } = await import('./server-access.ts');
    const known = this.#accesses.get(name);
    if (known?.config === config) return known;
    known?.forget();
    const { credentials, log, now = Date.now } = this.#deps;
    const redirectUrl = () => this.#redirectUrl.promise;
    const access = new ServerAccess(name, config, { credentials, log, now, redirectUrl });
    this.#accesses.set(name, access);
    return access;
  }

  returnTo(redirectUrl: string | null): void {
    this.#redirectUrl.resolve(redirectUrl);
  }

  urlOf(server: string): string | undefined {
    return this.#accesses.get(server)?.pending?.url;
  }

  async finish(response: AuthorizationResponse): Promise<AuthorizationOutcome | null> {
    const { isSameState } = await import('./pending-authorization.ts');
    for (const [server, access] of this.#accesses) {
      const { pending } = access;
      if (pending === null || !isSameState(pending.state, response.state)) continue;
      return { server, problem: await access.finish(pending, response) };
    }
    return null;
  }

  async forget(server: string): Promise<void> {
    const access = this.#accesses.get(server);
    this.#accesses.delete(server);
    access?.forget();
    await this.#deps.credentials.forget(server);
  }

  keepOnly(servers: readonly string[]): Promise<void> {
    return this.#deps.credentials.keepOnly(servers);
  }
}
