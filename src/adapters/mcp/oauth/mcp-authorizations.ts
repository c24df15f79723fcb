import type { Logger } from '../../../ports/logger.ts';
import type {
  AuthorizationOutcome,
  AuthorizationResponse,
  CredentialStore,
  ServerAuthorizations,
} from '../../../ports/server-authorization.ts';
import type { HttpConfig, ServerAuthorization } from './server-authorization.ts';

export interface AuthorizationDeps {
  readonly credentials: CredentialStore;
  readonly log: Logger;
  /** Milliseconds since the epoch. A simulated clock, in tests. */
  readonly now?: () => number;
}

/** The permissions to use tool servers over HTTP. */
export class McpAuthorizations implements ServerAuthorizations {
  readonly #deps: AuthorizationDeps;
  readonly #authorizations = new Map<string, ServerAuthorization>();
  /** Those whose servers were configured anew. Gone with the configuration, which the former server has until it ends. */
  readonly #retired = new WeakMap<HttpConfig, ServerAuthorization>();
  readonly #redirectUrl = Promise.withResolvers<string | null>();

  constructor(deps: AuthorizationDeps) {
    this.#deps = deps;
  }

  /**
   * The authorization of a server, which lasts over reconnections. A server that is configured anew starts anew, and the
   * former one keeps its token for the turns that still use it.
   *
   * @param config the same object for the same server.
   */
  async authorizationOf(name: string, config: HttpConfig): Promise<ServerAuthorization> {
    const { ServerAuthorization } = await import('./server-authorization.ts');
    const known = this.#authorizations.get(name);
    if (known?.config === config) return known;
    const retired = this.#retired.get(config);
    if (retired) return retired;
    if (known) {
      known.retire();
      this.#retired.set(known.config, known);
    }
    const { credentials, log, now = Date.now } = this.#deps;
    const redirectUrl = () => this.#redirectUrl.promise;
    const access = new ServerAuthorization(name, config, { credentials, log, now, redirectUrl });
    this.#authorizations.set(name, access);
    return access;
  }

  returnTo(redirectUrl: string | null): void {
    this.#redirectUrl.resolve(redirectUrl);
  }

  urlOf(server: string): string | undefined {
    return this.#authorizations.get(server)?.pending?.url;
  }

  async finish(response: AuthorizationResponse): Promise<AuthorizationOutcome | null> {
    const { isSameState } = await import('./pending-authorization.ts');
    for (const [server, access] of this.#authorizations) {
      const { pending } = access;
      if (pending === null || !isSameState(pending.state, response.state)) continue;
      return { server, problem: await access.finish(pending, response) };
    }
    return null;
  }

  async authorizedElsewhere(): Promise<readonly string[]> {
    const found = await Promise.all(
      [...this.#authorizations].map(async ([server, access]) =>
        (await access.wasAuthorizedElsewhere()) ? [server] : [],
      ),
    );
    return found.flat();
  }

  async forget(server: string): Promise<void> {
    const access = this.#authorizations.get(server);
    this.#authorizations.delete(server);
    access?.forget();
    await this.#deps.credentials.forget(server);
  }

  keepOnly(servers: readonly string[]): Promise<void> {
    return this.#deps.credentials.keepOnly(servers);
  }
}
