import { type Actor, type Origin, SERVICE } from '../log/event-metadata.ts';
import { ANONYMOUS, type RequestContext } from './request-context.ts';

const NOBODY_IN_PARTICULAR: Actor = { kind: 'client' };

/**
 * The origin of what a client's request brings about.
 * @param commandId made for the request when left out.
 */
export function requestOrigin(
  { principal, tenant }: RequestContext,
  commandId: string = crypto.randomUUID(),
): Origin {
  const actor: Actor = principal === ANONYMOUS ? NOBODY_IN_PARTICULAR : { kind: 'client', principal, tenant };
  return { actor, causationId: commandId };
}

/** The origin of what the service does by itself. */
export function serviceOrigin(causationId: string = crypto.randomUUID()): Origin {
  return { actor: SERVICE, causationId };
}
