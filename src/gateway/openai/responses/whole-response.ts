import type { MaxBytes } from '../../../core/size-limits.ts';
import type { Bus } from '../../../ports/bus.ts';
import { holdSession, type SessionReader, unlessRefused } from '../../security/held-session.ts';
import type { SignalFanOut } from '../../stream/signal-fan-out.ts';
import { type AskedResponse, type BegunResponse, isUnstored } from './asked-response.ts';
import { readResponse } from './response-feed.ts';
import { noResponse } from './response-id.ts';
import type { OpenAiResponse } from './response-object.ts';
import type { TurnResponses } from './turn-responses.ts';

export interface ResponsesDeps {
  readonly bus: Bus;
  readonly fanOut: SignalFanOut;
  readonly maxImageBytes: MaxBytes;
}

/** Waits for the end. Rejects with the error that ended the turn, and when the client may not read the session any more. */
export async function whole(
  deps: ResponsesDeps,
  asked: AskedResponse & SessionReader,
  begun: BegunResponse,
): Promise<OpenAiResponse> {
  const responses = await ended(deps, asked, begun);
  await forget(deps, asked, begun, responses);
  const { response, failure } = responses;
  if (failure && response?.status !== 'completed') throw failure;
  if (!response) throw noResponse(asked.body.model, 'response_id');
  return response;
}

async function ended(
  deps: ResponsesDeps,
  client: SessionReader,
  begun: BegunResponse,
): Promise<TurnResponses> {
  const { promise, resolve, reject } = Promise.withResolvers<TurnResponses>();
  holdSession(deps.bus, begun.place.sessionId, client);
  const feed = readResponse({ ...deps, context: client.context }, begun, {
    sink: { send: () => true, bufferedBytes: () => 0 },
    encode: () => '',
    onOver: resolve,
    onError: reject,
  });
  try {
    return await unlessRefused(promise, client);
  } finally {
    feed.stop();
  }
}

/** A foreground response ends with its client. */
export function abandon({ bus, context, body }: AskedResponse, { place }: BegunResponse): void {
  const { sessionId, turnId } = place;
  // The turn may have ended meanwhile, and nobody is left to be told.
  bus
    .send('turn.cancel', { sessionId, turnId, reason: 'the client went away' }, context)
    .then(() => (isUnstored(body) ? bus.send('session.delete', { sessionId }, context) : undefined))
    .catch(() => undefined);
}

/** Deletes what the client does not want to be stored, once nothing more comes of it. */
export async function forget(
  { bus }: ResponsesDeps,
  { body, context }: AskedResponse,
  { place }: BegunResponse,
  responses: TurnResponses,
): Promise<void> {
  if (!isUnstored(body) || !responses.isTurnOver) return;
  await bus.send('session.delete', { sessionId: place.sessionId }, context);
}
