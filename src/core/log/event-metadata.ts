import { z } from 'zod';

/** Who caused an event. */
export const Actor = z.discriminatedUnion('kind', [
  /** A client. `principal` and `tenant` are absent if the client was not authenticated. */
  z.object({ kind: z.literal('client'), principal: z.string().optional(), tenant: z.string().optional() }),
  /** The model or a tool that it called. */
  z.object({ kind: z.literal('agent') }),
  /** The service by itself, for example at a restart or at a limit. */
  z.object({ kind: z.literal('service') }),
]);
export type Actor = z.infer<typeof Actor>;

/** The metadata that the log stores beside an event. */
export const EventMetadata = z.object({
  /** A UUID. A fork copies events with their ids. */
  id: z.string(),
  actor: Actor,
  /** Id of the command or the event that caused this event. */
  causationId: z.string(),
  /** The same for all events that one message or request has caused: the id of the turn, if there is one. */
  correlationId: z.string(),
});
export type EventMetadata = z.infer<typeof EventMetadata>;

/** The metadata that all events of one append have in common. */
export interface Origin {
  readonly actor: Actor;
  readonly causationId: string;
}

export const SERVICE: Actor = { kind: 'service' };
export const AGENT: Actor = { kind: 'agent' };
