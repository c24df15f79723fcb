import { type Actor, type EventMetadata, type Origin, SERVICE } from '../log/event-metadata.ts';
import { ANONYMOUS, type RequestContext, type Rights } from './request-context.ts';

type ClientActor = Extract<Actor, { kind: 'client' }>;

const NOBODY_IN_PARTICULAR: ClientActor = { kind: 'client' };

/**
 * The origin of what a client's request brings about.
 * @param commandId made for the request when left out.
 */
export function requestOrigin(context: RequestContext, commandId: string = crypto.randomUUID()): Origin {
  return { actor: actorOf(context), causationId: commandId };
}

/** By what the credential allows, which is the same object for all requests with it. What is made of an actor is kept with it. */
const actors = new WeakMap<Rights, ClientActor>();

/** The client that makes a request, as the log knows it. */
export function actorOf({ principal, tenant, rights }: RequestContext): ClientActor {
  if (principal === ANONYMOUS) return NOBODY_IN_PARTICULAR;
  const known = rights && actors.get(rights);
  if (known) return known;
  const actor: ClientActor = { kind: 'client', principal, tenant };
  if (rights) actors.set(rights, actor);
  return actor;
}

/** Whether this client has done it. False if nobody knows who has. */
export function isBy(meta: EventMetadata | null, context: RequestContext): boolean {
  const { principal, tenant } = actorOf(context);
  return meta?.actor.kind === 'client' && meta.actor.principal === principal && meta.actor.tenant === tenant;
}

/** The origin of what the service does by itself. */
export function serviceOrigin(causationId: string = crypto.randomUUID()): Origin {
  return { actor: SERVICE, causationId };
}
