import { afterLeaving } from '../../../core/request/request-context.ts';
import type { MaxBytes } from '../../../core/size-limits.ts';
import type { Bus } from '../../../ports/bus.ts';
import { readToEnd } from '../../stream/read-to-end.ts';
import type { SignalFanOut } from '../../stream/signal-fan-out.ts';
import type { AskedResponse, BegunResponse } from './asked-response.ts';
import { readResponse } from './response-feed.ts';
import { noResponse } from './response-id.ts';
import type { OpenAiResponse } from './response-object.ts';
import type { TurnResponses } from './turn-responses.ts';

export interface ResponsesDeps {
  readonly bus: Bus;
  readonly fanOut: SignalFanOut;
  readonly maxImageBytes: MaxBytes;
}

/**
 * Waits for the end, unless the client goes away before. Rejects with the error that ended the turn, and when the client may
 * not read the session any more.
 */
export async function whole(
  deps: ResponsesDeps,
  asked: AskedResponse,
  begun: BegunResponse,
): Promise<OpenAiResponse> {
  const { bus, context, request } = asked;
  const { onLeft } = request;
  const forgetClient = endsWithClient(asked) ? onLeft?.(() => abandon(asked, begun)) : undefined;
  const responses = await readToEnd<TurnResponses>(
    { bus, client: { ...asked, onLeft } },
    begun.place.sessionId,
    (listener) => readResponse({ ...deps, context }, begun, listener),
  ).finally(() => forgetClient?.());
  await forget(deps, asked, begun, responses);
  const { response, failure } = responses;
  if (failure && response?.status !== 'completed') throw failure;
  if (!response) throw noResponse(asked.body.model, 'response_id');
  return response;
}

/** Whether a client that goes away wants no more of the response. With an idempotency key it can come back to it. */
export function endsWithClient({ body, key }: AskedResponse): boolean {
  return !body.background && !key;
}

/** The client has gone away: its response ends. */
export function abandon({ bus, context }: AskedResponse, { place, isUnstored }: BegunResponse): void {
  const { sessionId, turnId } = place;
  const left = afterLeaving(context);
  // The turn may have ended meanwhile, and nobody is left to be told.
  bus
    .send('turn.cancel', { sessionId, turnId, reason: 'the client went away' }, left)
    .then(() => (isUnstored ? bus.send('session.delete', { sessionId }, left) : undefined))
    .catch(() => undefined);
}

/**
 * Deletes what the client does not want to be stored, once nothing more comes of it. The same request, sent twice at once,
 * has two readers: the last one deletes it.
 */
export async function forget(
  { bus, fanOut }: ResponsesDeps,
  { context }: AskedResponse,
  { place, isUnstored }: BegunResponse,
  responses: TurnResponses,
): Promise<void> {
  const { sessionId } = place;
  if (!isUnstored || !responses.isTurnOver) return;
  if (fanOut.hasReaders(bus.topicOf(sessionId, context))) return;
  // The answer is whole, and a session that is not to be stored is deleted all the same, some seconds later.
  await bus.send('session.delete', { sessionId }, context).catch(() => undefined);
}
