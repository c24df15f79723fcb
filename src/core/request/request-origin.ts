import { type Actor, type Origin, SERVICE } from '../log/event-metadata.ts';
import { ANONYMOUS, type RequestContext } from './request-context.ts';

type ClientActor = Extract<Actor, { kind: 'client' }>;

const NOBODY_IN_PARTICULAR: ClientActor = { kind: 'client' };

/**
 * The origin of what a client's request brings about.
 * @param commandId made for the request when left out.
 */
export function requestOrigin(context: RequestContext, commandId: string = crypto.randomUUID()): Origin {
  return { actor: actorOf(context), causationId: commandId };
}

/** The client that makes a request, as the log knows it. */
export function actorOf({ principal, tenant }: RequestContext): ClientActor {
  return principal === ANONYMOUS ? NOBODY_IN_PARTICULAR : { kind: 'client', principal, tenant };
}

/** The origin of what the service does by itself. */
export function serviceOrigin(causationId: string = crypto.randomUUID()): Origin {
  return { actor: SERVICE, causationId };
}
