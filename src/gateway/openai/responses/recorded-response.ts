import type { RequestContext } from '../../../core/request/request-context.ts';
import { StreamCursor } from '../../../core/session/stream-cursor.ts';
import type { Bus } from '../../../ports/bus.ts';
import { type RecordedTurn, recordedTurn } from '../../turns/recorded-turn.ts';
import type { ResponsePlace } from './response-id.ts';
import type { OpenAiResponse } from './response-object.ts';
import { TurnResponses } from './turn-responses.ts';

/** A response as the log has it. */
export interface RecordedResponse {
  readonly turn: RecordedTurn;
  readonly response: OpenAiResponse;
  /** All that the turn has become. */
  readonly responses: TurnResponses;
}

/** Null if there is no such response. */
export async function recordedResponse(
  bus: Bus,
  place: ResponsePlace,
  context: RequestContext,
): Promise<RecordedResponse | null> {
  const turn = await recordedTurn(bus, place, context);
  if (!turn) return null;
  const responses = responsesOf(turn, place);
  const { response } = responses;
  return response && { turn, responses, response };
}

export function responsesOf(turn: RecordedTurn, place: ResponsePlace): TurnResponses {
  const responses = new TurnResponses(place);
  const cursor = new StreamCursor({ seq: turn.begin - 1, offset: 0 });
  for (const envelope of turn.since) for (const signal of cursor.take(envelope)) responses.take(signal);
  return responses;
}
