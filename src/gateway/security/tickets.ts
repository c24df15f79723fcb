import { createHash, randomBytes } from 'node:crypto';
import { ownPrefix } from '../../core/access/session-names.ts';
import { ServiceError } from '../../core/errors.ts';
import { fullShare } from '../../core/limit-errors.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import { nodeTopic, type Peers } from '../../ports/peers.ts';
import { ConcurrencyLimit } from './rate-limits.ts';

const TICKET_LIFE_MS = 30_000;
/** Beyond it, no tickets are issued until some have ended. */
const MAX_TICKETS = 10_000;
/** The same for one principal, so that nobody can use up those of all. */
const MAX_OF_PRINCIPAL = 100;

/** What nodes ask each other about. */
const TOPIC = nodeTopic<string, RequestContext | null>('ticket');
/** The length of 32 bytes in base64url. */
const TICKET_LENGTH = 43;

export interface Ticket {
  readonly ticket: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

interface Issued {
  readonly context: RequestContext;
  readonly expiresAt: number;
}

/**
 * Stand in for a credential where a browser can send no header: in the URL of a WebSocket or an event stream. URLs end up
 * in logs, so a ticket is good for one use within 30 seconds.
 */
export class Tickets {
  readonly #now: () => number;
  readonly #peers: Peers | undefined;
  /** By the hash of the ticket, oldest first: a lookup tells nothing by its time. */
  readonly #issued = new Map<string, Issued>();
  /** How many of them each principal has. */
  readonly #ofPrincipal = new ConcurrencyLimit(MAX_OF_PRINCIPAL);

  /** @param peers the other nodes, which issue tickets, too. @param now milliseconds since the epoch. */
  constructor(peers?: Peers, now: () => number = Date.now) {
    this.#now = now;
    this.#peers = peers;
    peers?.onAsked(TOPIC, async (ticket) => this.redeem(ticket));
  }

  /** The trace of the request ends with it: what comes over the connection later is no part of it. */
  issue({ trace: _, ...context }: RequestContext): Ticket {
    this.#forgetExpired();
    if (this.#issued.size >= MAX_TICKETS)
      throw new ServiceError('SERVICE_UNAVAILABLE', 'Too many tickets wait to be used.', { retryAfter: 30 });
    const refusal = this.#ofPrincipal.enter(ownPrefix(context));
    if (refusal) throw tooManyOf(refusal.limit);
    const ticket = randomBytes(32).toString('base64url');
    const expiresAt = this.#now() + TICKET_LIFE_MS;
    this.#issued.set(hashOf(ticket), { context, expiresAt });
    return { ticket, expiresAt };
  }

  /** The context of whoever got the ticket at this node; null if it was used, was never issued, or it or the credential has ended. */
  redeem(ticket: string): RequestContext | null {
    this.#forgetExpired();
    const hash = hashOf(ticket);
    const issued = this.#issued.get(hash);
    this.#forget(hash);
    // The credential may have ended before the ticket.
    if (!issued || this.#now() >= (issued.context.rights?.expiresAt ?? Infinity)) return null;
    return issued.context;
  }

  /** The same for a ticket that another node may have issued. Each call asks all nodes. */
  async redeemElsewhere(ticket: string): Promise<RequestContext | null> {
    // Nobody asks for what cannot be one.
    if (!this.#peers || ticket.length !== TICKET_LENGTH) return null;
    const answers = await this.#peers.askAll(TOPIC, ticket);
    return answers.find((answer) => answer !== null) ?? null;
  }

  /** Forgets the tickets that were got with this credential. */
  revoke(credential: string): void {
    for (const [hash, { context }] of this.#issued)
      if (context.rights?.credential === credential) this.#forget(hash);
  }

  #forgetExpired(): void {
    const now = this.#now();
    for (const [hash, { expiresAt }] of this.#issued) {
      if (expiresAt > now) return;
      this.#forget(hash);
    }
  }

  #forget(hash: string): void {
    const issued = this.#issued.get(hash);
    if (!issued) return;
    this.#issued.delete(hash);
    this.#ofPrincipal.leave(ownPrefix(issued.context));
  }
}

function tooManyOf(limit: number): ServiceError {
  const what = 'tickets that wait to be used';
  return fullShare({ name: 'tickets', of: 'principal', what }, limit, TICKET_LIFE_MS / 1000);
}

function hashOf(ticket: string): string {
  return createHash('sha256').update(ticket).digest('base64');
}
