import type { ServiceError } from '../../../core/errors.ts';
import { EventParts } from '../../sse/event-parts.ts';
import { type FollowDeps, type FollowedSession, followSession } from '../../stream/followed-session.ts';
import type { FrameSink } from '../../stream/resuming-reader.ts';
import type { PlacedResponse } from './asked-response.ts';
import { TurnResponses } from './turn-responses.ts';

export interface ResponseFeedListener {
  readonly sink: FrameSink;
  /** Encodes an event; empty if the client does not get it. */
  readonly encode: (type: string, json: string, number: number) => string;
  /** Nothing follows. */
  readonly onOver: (responses: TurnResponses) => void;
  /** The log could not be read, and nothing follows. */
  readonly onError: (error: unknown) => void;
  /** The service has given the turn up, and nothing follows. */
  readonly onGivenUp: (error: ServiceError) => void;
}

/** Reads a response: first what the log has of it, then what happens. The listener is called later, never at once. */
export function readResponse(
  deps: FollowDeps,
  { place, afterSeq }: PlacedResponse,
  { sink, encode, onOver, onError, onGivenUp }: ResponseFeedListener,
): FollowedSession {
  const parts = new EventParts((part) => sink.send(part));
  const responses = new TurnResponses(place, (type, json, number) => parts.add(encode(type, json, number)));
  return followSession(deps, {
    sessionId: place.sessionId,
    afterSeq,
    sink,
    take: (signal) => {
      responses.take(signal);
      return parts.takeRest();
    },
    isOver: () => responses.isOver,
    onOver: () => onOver(responses),
    onDeleted: () => onOver(responses),
    onError,
    onGivenUp,
  });
}
