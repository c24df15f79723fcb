import { ANONYMOUS, type RequestContext } from '../../core/request/request-context.ts';

/**
 * Where the idempotency key of a request counts: the requests of this client with the same type and subject. Two clients
 * may choose the same key, and neither may get the answer of the other.
 *
 * @param subject request type and what the request is about.
 */
export function keyScope({ tenant, principal }: RequestContext, ...subject: string[]): readonly string[] {
  // Without authentication it stays as in logs of earlier versions. No request type is called `of`.
  return principal === ANONYMOUS ? subject : ['of', tenant, principal, ...subject];
}
