import { ServiceError } from '../../core/errors.ts';
import type { RequestContext } from '../../core/request/request-context.ts';

/**
 * The credentials that were revoked while the service runs. A client is authenticated when the head of its request comes, and
 * its body may come minutes later: what it asks for then is asked of here.
 */
export class RevokedCredentials {
  readonly #revoked = new Set<string>();

  add(credential: string): void {
    this.#revoked.add(credential);
  }

  /** Throws `UNAUTHORIZED` if the credential of the client was revoked since the client was authenticated. */
  refuse({ rights }: Pick<RequestContext, 'rights'>): void {
    if (!rights || !this.#revoked.has(rights.credential)) return;
    throw credentialRevoked();
  }
}

export function credentialRevoked(): ServiceError {
  return new ServiceError('UNAUTHORIZED', 'The credential was revoked.', { reason: 'revoked' });
}
