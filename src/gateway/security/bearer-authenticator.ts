import type { AuditEntry } from '../../core/access/audit-entry.ts';
import { auditedClient } from '../../core/access/audited-client.ts';
import type { Identity } from '../../core/access/identity.ts';
import { requireScope } from '../../core/access/require-scope.ts';
import type { NeededScopes } from '../../core/access/scopes.ts';
import { asServiceError, ServiceError } from '../../core/errors.ts';
import { contextOf, type RequestContext } from '../../core/request/request-context.ts';
import type { Audit } from '../../ports/audit.ts';
import type { Authenticator, Credentials } from '../../ports/authenticator.ts';
import type { TokenVerifier } from '../../ports/token-verifier.ts';
import { type BearerHeader, BearerHeaders } from './bearer-headers.ts';
import type { FailedAttempts } from './failed-attempts.ts';
import type { Tickets } from './tickets.ts';

export interface BearerAuthenticatorDeps {
  readonly verifiers: readonly TokenVerifier[];
  readonly tickets: Tickets;
  readonly failures: FailedAttempts;
  /** Runs what asks the other nodes: for one address a few at a time. */
  readonly inTurn: <T>(address: string, work: () => Promise<T>) => Promise<T>;
  /** Hears what is refused. */
  readonly audit?: Audit | undefined;
}

/** The addresses of one client whose contexts are kept. */
const MAX_ADDRESSES = 100;

/** Names under which clients put a token in a URL. */
const IN_URL = ['access_token', 'token', 'api_key', 'key'];

/** Identifies clients by `Authorization: Bearer`, or by a ticket in the query. */
export class BearerAuthenticator implements Authenticator {
  readonly #deps: BearerAuthenticatorDeps;
  /** By address: most clients have one. */
  readonly #contexts = new WeakMap<Identity, Map<string, RequestContext>>();
  readonly #headers = new BearerHeaders();

  constructor(deps: BearerAuthenticatorDeps) {
    this.#deps = deps;
  }

  authenticate(request: Credentials, address: string): RequestContext | Promise<RequestContext> {
    const header = request.headers.get('authorization');
    const inUrl = tokenFieldIn(request.query);
    // Beside a header it is a slip, of the client or of what stands before the service.
    if (inUrl !== undefined) return this.#refuse(tokenInUrl(inUrl), address, null, header === undefined);
    if (header !== undefined) return this.#byHeader(header, address);
    return request.query === ''
      ? this.#refuse(missing(), address, null, false)
      : this.#byQuery(request, address);
  }

  /** The client that a token belongs to. Throws, or rejects, as `authenticate` does. */
  identify(token: string, address: string): RequestContext | Promise<RequestContext> {
    const verifier = this.#verifierOf(token);
    return verifier ? this.#verified({ token, verifier }, address) : this.#refuse(unknown(), address, null);
  }

  #byHeader(header: string, address: string): RequestContext | Promise<RequestContext> {
    const known = this.#headers.find(header);
    if (known) return this.#verified(known, address);
    const token = /^Bearer +([^\s,]+) *$/i.exec(header)?.[1];
    if (token === undefined) return this.#refuse(notBearer(), address, null);
    const verifier = this.#verifierOf(token);
    if (!verifier) return this.#refuse(unknown(), address, null);
    const context = this.#verified({ token, verifier }, address);
    // A refusal is a promise, and so is what has to be looked up: it is accepted at once the next time.
    if (!(context instanceof Promise)) this.#headers.keep({ header, token, verifier });
    return context;
  }

  #verifierOf(token: string): TokenVerifier | undefined {
    return this.#deps.verifiers.find((candidate) => candidate.recognizes(token));
  }

  #verified(
    { token, verifier }: Pick<BearerHeader, 'token' | 'verifier'>,
    address: string,
  ): RequestContext | Promise<RequestContext> {
    const refused = (error: unknown) => this.#refuse(error, address, verifier.subjectOf(token));
    try {
      const identity = verifier.verify(token);
      return identity instanceof Promise
        ? identity.then((known) => this.#contextOf(known, address), refused)
        : this.#contextOf(identity, address);
    } catch (error) {
      return refused(error);
    }
  }

  /** For a connection that goes on with another token, of the same principal. Throws, or rejects, as `identify` does. */
  async identifyAgain(
    token: string,
    { principal, tenant }: RequestContext,
    address: string,
  ): Promise<RequestContext> {
    const context = await this.identify(token, address);
    if (context.principal === principal && context.tenant === tenant) return context;
    const error = otherPrincipal();
    this.noteRefusal(context, 'authenticate', error);
    throw error;
  }

  /** The same object for each request with a credential: what is derived from it is kept with it. */
  #contextOf(identity: Identity, address: string): RequestContext {
    let byAddress = this.#contexts.get(identity);
    if (!byAddress || byAddress.size >= MAX_ADDRESSES) {
      byAddress = new Map();
      this.#contexts.set(identity, byAddress);
    }
    const known = byAddress.get(address);
    if (known) return known;
    const context = contextOf(identity, address);
    byAddress.set(address, context);
    return context;
  }

  require(context: RequestContext, needed: NeededScopes, what: string): void {
    try {
      requireScope(context, needed);
    } catch (error) {
      this.noteRefusal(context, what, error);
      throw error;
    }
  }

  noteRefusal(context: RequestContext, what: string, error: unknown): void {
    this.#deps.audit?.record({ ...auditedClient(context), what, ...outcomeOf(error) });
  }

  #byQuery(
    { query, method = 'GET' }: Credentials,
    address: string,
  ): RequestContext | Promise<RequestContext> {
    const ticket = new URLSearchParams(query).get('ticket');
    if (ticket === null) return this.#refuse(missing(), address, null, false);
    // Otherwise whoever finds a ticket in a log could get one after the other.
    if (method !== 'GET') return this.#refuse(ticketNotUsable(method), address, null, false);
    const own = this.#deps.tickets.redeem(ticket);
    return own === null ? this.#byForeignTicket(ticket, address) : { ...own, address };
  }

  /**
   * Otherwise whoever makes tickets up would keep all nodes busy: an address that is at its limit is refused unasked, and what
   * it sends at once is asked for a few at a time, so that it reaches the limit first.
   */
  async #byForeignTicket(ticket: string, address: string): Promise<RequestContext> {
    const { tickets, failures, inTurn } = this.#deps;
    // In an object, so that the next one does not wait for an answer that is held back, but for its being counted.
    const { answer } = await inTurn(address, async () => {
      const found = failures.isAtLimit(address) ? null : await tickets.redeemElsewhere(ticket);
      // Where the ticket is used, not where it was got.
      return { answer: found === null ? this.#refuse(badTicket(), address, null) : { ...found, address } };
    });
    return answer;
  }

  /** @param isAttempt whether something was tried. */
  async #refuse(error: unknown, address: string, subject: string | null, isAttempt = true): Promise<never> {
    const credential = subject === null ? {} : { subject };
    if (isAttempt)
      this.#deps.audit?.record({ what: 'authenticate', address, ...credential, ...outcomeOf(error) });
    if (isAttempt && isGuess(error)) await this.#deps.failures.note(address, subject);
    throw error;
  }
}

/** The name under which a query has a token, whatever else the request shows. */
function tokenFieldIn(query: string): string | undefined {
  if (query === '') return undefined;
  const parameters = new URLSearchParams(query);
  return IN_URL.find((name) => parameters.has(name));
}

/** Whoever has a credential that was good once has not guessed it. */
const WAS_GOOD: readonly unknown[] = ['expired', 'revoked'];

function isGuess(error: unknown): boolean {
  return (
    error instanceof ServiceError && error.code === 'UNAUTHORIZED' && !WAS_GOOD.includes(error.details.reason)
  );
}

const WAYS = 'Send the header Authorization: Bearer with an API key or a token of your identity provider.';

function missing(): ServiceError {
  return new ServiceError('UNAUTHORIZED', 'The request has no credentials.', {
    reason: 'missing',
    suggestion: `${WAYS} Where no header can be sent, use a ticket of POST /api/tickets.`,
  });
}

function notBearer(): ServiceError {
  return new ServiceError('UNAUTHORIZED', 'The Authorization header is not a bearer token.', {
    reason: 'malformed',
    suggestion: WAYS,
  });
}

function unknown(): ServiceError {
  return new ServiceError('UNAUTHORIZED', 'The token is of no kind that this service accepts.', {
    reason: 'malformed',
    suggestion: WAYS,
  });
}

function tokenInUrl(field: string): ServiceError {
  return new ServiceError(
    'UNAUTHORIZED',
    'A token is not accepted in a URL, because URLs are logged on their way.',
    {
      reason: 'token in the URL',
      field,
      suggestion: 'Get a ticket with POST /api/tickets, and use ?ticket=… within 30 seconds.',
    },
  );
}

function badTicket(): ServiceError {
  return new ServiceError('UNAUTHORIZED', 'The ticket was used before, has expired, or was never issued.', {
    reason: 'ticket not valid',
    suggestion: 'Get a new one with POST /api/tickets for each connection.',
  });
}

function ticketNotUsable(method: string): ServiceError {
  return new ServiceError(
    'UNAUTHORIZED',
    'A ticket is for a WebSocket, or for a request with GET such as an event stream.',
    {
      reason: 'ticket not usable',
      issue: `the method is ${method}`,
      suggestion: WAYS,
    },
  );
}

function otherPrincipal(): ServiceError {
  return new ServiceError('FORBIDDEN', 'The token belongs to somebody else than the connection.', {
    field: 'token',
    issue: 'it is a token of another principal or tenant',
    suggestion: 'Open a new connection with it.',
  });
}

function outcomeOf(thrown: unknown): Pick<AuditEntry, 'outcome' | 'reason'> {
  const { code, details } = asServiceError(thrown);
  const reason = details.scope ?? details.reason;
  return { outcome: code, ...(typeof reason === 'string' && { reason }) };
}
