import type { Scope } from '../../core/access/scopes.ts';
import type { ServiceError } from '../../core/errors.ts';
import type { AgentRequest } from '../agents/agent-choice.ts';
import { insufficientScopeChallenge, unauthorizedChallenge } from './bearer-challenge.ts';
import { type McpResource, mcpPath, mcpResource, publicBase } from './protected-resource.ts';

export interface ProtectedMcpOptions {
  /** `auth.resource`. */
  readonly url: string | undefined;
  readonly issuers: readonly string[];
  /** Scopes that clients may ask the issuers for. Empty if no issuer grants scopes of this service. */
  readonly scopes: readonly Scope[];
  /** Whether the peer with this address is a proxy of `server.trustProxy`. */
  readonly isTrustedProxy: (peerAddress: string) => boolean;
}

/** What a request says about the endpoint that its client used. */
type AddressedRequest = Pick<AgentRequest, 'headers' | 'peerAddress' | 'prefix'>;

/** `/mcp` as an OAuth 2.1 protected resource: how its clients learn where to get a token, and for what. */
export class ProtectedMcp {
  readonly #options: ProtectedMcpOptions;

  constructor(options: ProtectedMcpOptions) {
    this.#options = options;
  }

  get issuers(): readonly string[] {
    return this.#options.issuers;
  }

  get scopes(): readonly Scope[] {
    return this.#options.scopes;
  }

  resourceOf({ headers, peerAddress, prefix }: AddressedRequest): McpResource {
    const { url, isTrustedProxy } = this.#options;
    return mcpResource(
      publicBase(url, {
        host: headers.get('host'),
        forwardedProto: headers.get('x-forwarded-proto'),
        isFromTrustedProxy: isTrustedProxy(peerAddress),
      }),
      mcpPath(prefix),
    );
  }

  /** The header `WWW-Authenticate` of a refusal; none for other errors. */
  challenge(request: AddressedRequest, error: ServiceError): Record<string, string> {
    const { reason, scope, scopes: several } = error.details;
    if (error.code === 'FORBIDDEN' && typeof scope === 'string') {
      const { metadataUrl } = this.resourceOf(request);
      const missing: readonly unknown[] = Array.isArray(several) ? several : [scope];
      const scopes = this.scopes.filter((known) => missing.includes(known));
      return { 'WWW-Authenticate': insufficientScopeChallenge({ metadataUrl, scopes }) };
    }
    if (error.code !== 'UNAUTHORIZED') return {};
    const { metadataUrl } = this.resourceOf(request);
    const refusal = reason === 'missing' ? undefined : error.message;
    return { 'WWW-Authenticate': unauthorizedChallenge({ metadataUrl, scopes: this.scopes }, refusal) };
  }
}
