import { setTimeout as wait } from 'node:timers/promises';
import type { AuthConfig } from '../../config/schema/auth-config.ts';
import { BearerAuthenticator } from '../../gateway/security/bearer-authenticator.ts';
import { FailedAttempts } from '../../gateway/security/failed-attempts.ts';
import { HeldCredentials } from '../../gateway/security/held-credentials.ts';
import { Tickets } from '../../gateway/security/tickets.ts';
import type { Bus } from '../../ports/bus.ts';
import type { TokenVerifier } from '../../ports/token-verifier.ts';
import { GuardedBus } from '../../runtime/access/guarded-bus.ts';
import type { Agent } from '../compose.ts';

/** What stands between clients and the agent where clients are authenticated. */
export interface ClientAccess {
  readonly authenticator: BearerAuthenticator;
  /** Of open sockets and event streams. */
  readonly credentials: HeldCredentials;
  readonly tickets: Tickets;
  readonly bus: Bus;
  /** Whether this may be read without a credential. */
  isPublic(what: AuthConfig['public'][number]): boolean;
  /** Call when a credential was revoked: it is refused from now on, and what is open with it ends. */
  revoke(credential: string): void;
}

export async function clientAccess(auth: AuthConfig, agent: Pick<Agent, 'bus'>): Promise<ClientAccess> {
  return accessBy(auth, await verifiersOf(auth), agent.bus);
}

async function verifiersOf(_auth: AuthConfig): Promise<TokenVerifier[]> {
  return [];
}

/** @param verifiers of the kinds of tokens that are accepted. */
export function accessBy(
  auth: Pick<AuthConfig, 'public'>,
  verifiers: readonly TokenVerifier[],
  bus: Bus,
): ClientAccess {
  const tickets = new Tickets();
  const failures = new FailedAttempts((ms) => wait(ms, undefined, { ref: false }));
  const authenticator = new BearerAuthenticator({ verifiers, tickets, failures });
  const credentials = new HeldCredentials((token, address) => authenticator.identify(token, address));
  return {
    authenticator,
    credentials,
    tickets,
    bus: new GuardedBus(bus),
    isPublic: (what) => auth.public.includes(what),
    revoke(credential) {
      authenticator.forget(credential);
      credentials.revoke(credential);
    },
  };
}
