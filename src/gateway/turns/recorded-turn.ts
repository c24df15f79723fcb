import type { CallId, SessionId, TurnId } from '../../core/ids.ts';
import type { Envelope } from '../../core/log/envelope.ts';
import type { SessionEvent, SessionEventOf } from '../../core/log/events.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import { outcomeOf } from '../../core/session/session-state.ts';
import type { Bus } from '../../ports/bus.ts';
import { newestEvents, readEvents } from './read-events.ts';

/** A turn as the log has it. */
export interface RecordedTurn {
  /** The first event of the turn. */
  readonly requested: SessionEventOf<'turn.requested'>;
  /** All events of the session from its first one on, oldest first. */
  readonly since: readonly Envelope[];
  /** Seq of its first event. */
  readonly begin: number;
  /** Seq of the event that ended it; undefined while it is not over. */
  readonly end: number | undefined;
  /** Seq of the last event of the session that was looked at. */
  readonly head: number;
}

/** Null if the session has no such turn. */
export function recordedTurn(
  bus: Bus,
  { sessionId, turnId }: { readonly sessionId: SessionId; readonly turnId: TurnId },
  context: RequestContext,
): Promise<RecordedTurn | null> {
  return turnThat(bus, sessionId, context, (requested) => requested.turnId === turnId);
}

/** The turn that has started last. Null if none has started in the session. */
export function newestTurn(
  bus: Bus,
  sessionId: SessionId,
  context: RequestContext,
): Promise<RecordedTurn | null> {
  return turnThat(bus, sessionId, context, ({ turnId }, later) =>
    later.some(({ event }) => event.type === 'turn.started' && event.turnId === turnId),
  );
}

/** The last turn whose message is recorded by such an event. Null if none is. */
export function turnRequestedBy(
  bus: Bus,
  { sessionId, isWanted }: { readonly sessionId: SessionId; readonly isWanted: (event: Envelope) => boolean },
  context: RequestContext,
): Promise<RecordedTurn | null> {
  return turnThat(bus, sessionId, context, (_requested, _later, envelope) => isWanted(envelope));
}

/** A tool call, and the turn that has asked for it. Another turn may have a call with the same id. */
export interface CallOfTurn {
  readonly turnId: TurnId;
  readonly callId: CallId;
}

/** The last turn that has asked for one of the wanted calls. Null if none has. */
export function turnWithCalls(
  bus: Bus,
  {
    sessionId,
    isWanted,
  }: { readonly sessionId: SessionId; readonly isWanted: (call: CallOfTurn) => boolean },
  context: RequestContext,
): Promise<RecordedTurn | null> {
  return turnThat(bus, sessionId, context, ({ turnId }, later) =>
    callsIn(later, turnId).some((callId) => isWanted({ turnId, callId })),
  );
}

/** The ids of the calls of the turn that are asked for in these events. */
export function callsIn(events: readonly Envelope[], turnId: TurnId): CallId[] {
  return events.flatMap(({ event }) =>
    event.type === 'tool-call.requested' && event.turnId === turnId ? [event.callId] : [],
  );
}

/** The events of the turn among these, in their order. */
export function eventsIn(since: readonly Envelope[], turnId: TurnId): SessionEvent[] {
  return since.map(({ event }) => event).filter((event) => 'turnId' in event && event.turnId === turnId);
}

/** The step that asked for the calls. */
export function stepWith({ since, requested }: RecordedTurn, callIds: readonly CallId[]): number {
  let step = 0;
  for (const event of eventsIn(since, requested.turnId)) {
    if (event.type === 'step.completed') step = event.step;
    if (event.type === 'tool-call.requested' && callIds.includes(event.callId)) return step;
  }
  return step;
}

/** The events of the turn after a seq. */
export async function eventsOfTurn(
  bus: Bus,
  {
    sessionId,
    turnId,
    after,
  }: { readonly sessionId: SessionId; readonly turnId: TurnId; readonly after: number },
  context: RequestContext,
): Promise<SessionEvent[]> {
  return eventsIn(await Array.fromAsync(readEvents(bus, { sessionId, after }, context)), turnId);
}

/** Whether a message could follow the turn: no other was sent since, and the conversation was neither added to nor cleared. */
export function isLastMessage({ since }: RecordedTurn): boolean {
  return !since.slice(1).some(({ event }) => CHANGING.has(event.type));
}

const CHANGING: ReadonlySet<SessionEvent['type']> = new Set([
  ...(['turn.requested', 'session.reset', 'session.extended'] as const),
]);

/**
 * The last turn that is the wanted one. The log is read backwards, because that turn is near its end.
 * @param isWanted also gets the events after the first one of the turn, newest first, and that one with its metadata.
 */
async function turnThat(
  bus: Bus,
  sessionId: SessionId,
  context: RequestContext,
  isWanted: (
    requested: SessionEventOf<'turn.requested'>,
    later: readonly Envelope[],
    envelope: Envelope,
  ) => boolean,
): Promise<RecordedTurn | null> {
  const { head } = await bus.send('session.position', { sessionId }, context);
  const later: Envelope[] = [];
  for await (const envelope of newestEvents(bus, { sessionId, head }, context)) {
    const { event, seq: begin } = envelope;
    const isFound = event.type === 'turn.requested' && isWanted(event, later, envelope);
    later.push(envelope);
    if (!isFound) continue;
    const since = later.toReversed();
    const end = since.find((one) => outcomeOf(one.event)?.turnId === event.turnId)?.seq;
    return { requested: event, since, begin, end, head };
  }
  return null;
}

/** The messages at the end of a session that got no reply, as those of turns that failed, oldest first. */
export async function unansweredMessages(
  bus: Bus,
  { sessionId, head }: { readonly sessionId: SessionId; readonly head: number },
  context: RequestContext,
): Promise<SessionEventOf<'turn.requested'>[]> {
  const requested: SessionEventOf<'turn.requested'>[] = [];
  for await (const { event } of newestEvents(bus, { sessionId, head }, context)) {
    if (ANSWERING.has(event.type)) break;
    if (event.type === 'turn.requested') requested.unshift(event);
  }
  return requested;
}

const ANSWERING: ReadonlySet<SessionEvent['type']> = new Set([
  ...(['step.completed', 'session.reset', 'session.extended'] as const),
]);
