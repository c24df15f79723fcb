import { z } from 'zod';

/** Who did something: a client, the agent itself, or the service. */
export const Actor = z.discriminatedUnion('kind', [
  /** `principal` is absent while the service does not authenticate its clients. */
  z.object({ kind: z.literal('client'), principal: z.string().optional() }),
  /** The model or a tool that it called. */
  z.object({ kind: z.literal('agent') }),
  /** The process: a restart, a limit. */
  z.object({ kind: z.literal('service') }),
]);
export type Actor = z.infer<typeof Actor>;

/** What stands beside an event in the log. */
export const EventMetadata = z.object({
  /** A UUID. A fork keeps the ids of the events that it shares. */
  id: z.string(),
  actor: Actor,
  /** Id of the command or the event that brought this event about. */
  causationId: z.string(),
  /** Shared by all that came of one message or one request: the id of the turn, where there is one. */
  correlationId: z.string(),
});
export type EventMetadata = z.infer<typeof EventMetadata>;

/** What all events of one append have in common. */
export interface Origin {
  readonly actor: Actor;
  readonly causationId: string;
}

/** The metadata of a new event. */
export function metadataOf(event: object, { actor, causationId }: Origin): EventMetadata {
  const correlationId = 'turnId' in event && typeof event.turnId === 'string' ? event.turnId : causationId;
  return { id: crypto.randomUUID(), actor, causationId, correlationId };
}

export const SERVICE: Actor = { kind: 'service' };
export const AGENT: Actor = { kind: 'agent' };
