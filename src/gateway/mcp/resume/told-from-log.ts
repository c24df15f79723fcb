import type { RequestContext } from '../../../core/request/request-context.ts';
import { isSentWith } from '../../../core/request/sent-before.ts';
import type { Bus } from '../../../ports/bus.ts';
import type { HttpResponse } from '../../../ports/web-server.ts';
import type { ServedRequest } from '../../http/http-message.ts';
import { holdSession } from '../../security/held-session.ts';
import { serverSentEvents } from '../../sse/server-sent-events.ts';
import { followSession } from '../../stream/followed-session.ts';
import type { SignalFanOut } from '../../stream/signal-fan-out.ts';
import { type RecordedTurn, recordedTurn, turnRequestedBy } from '../../turns/recorded-turn.ts';
import { callKey } from '../agent/call-key.ts';
import { ifNoSession } from '../agent/no-session.ts';
import { refusalOf } from '../credential-stream.ts';
import type { ChatStream } from './chat-stream.ts';
import type { EventId } from './event-id.ts';
import { encodeEventId } from './event-id.ts';
import { primingEvent } from './resumption.ts';
import { lostAnswer, ToldCall } from './told-call.ts';

export interface LogReader {
  readonly bus: Bus;
  readonly fanOut: SignalFanOut;
}

/** Goes on with the stream of a call of `chat_with_agent`, on any node and after a restart: all of it is read from the log. */
export async function toldFromLog(
  { bus, fanOut }: LogReader,
  request: ServedRequest,
  chat: ChatStream,
  { stream, told }: EventId,
): Promise<HttpResponse> {
  const { context, credential, method } = request;
  if (told === 'end') return whole('', request);
  const { sessionId, requestId } = chat;
  const recorded = await recordedCall(bus, chat, context).catch(ifNoSession);
  if (!recorded) return whole(lostAnswer(chat, stream), request);
  request.use?.openStream();
  holdSession(bus, sessionId, request);
  const { turnId } = recorded.requested;
  const call = new ToldCall({ ...chat, turnId }, stream, { told, recorded, agentPath: context.agentPath });
  const revision = request.headers.get('mcp-protocol-version');
  return serverSentEvents(
    (sink) =>
      followSession(
        { bus, fanOut, context },
        {
          sessionId,
          afterSeq: recorded.begin - 1,
          sink,
          begin: () => primingEvent(encodeEventId({ stream, told }), revision),
          take: (signal) => call.take(signal),
          isOver: () => call.isOver,
          onOver: () => sink.end(),
          onDeleted: () => {
            sink.send(call.lost());
            sink.end();
          },
          onError: (error) => sink.fail(error),
        },
      ),
    { method, credential, resumes: true, encodeError: (error) => refusalOf(requestId, error) },
  );
}

/** The turn of the call. That of a call that was repeated with its key is the one that the first call has begun. */
async function recordedCall(
  bus: Bus,
  chat: ChatStream,
  context: RequestContext,
): Promise<RecordedTurn | null> {
  const begun = await recordedTurn(bus, chat, context);
  const { sessionId, keyId } = chat;
  if (begun || keyId === undefined) return begun;
  // The fingerprint is not compared: a call with another message was refused, and not repeated.
  const isWanted = isSentWith(await callKey(keyId, null), context);
  return turnRequestedBy(bus, { sessionId, isWanted }, context);
}

/** A stream that has ended. */
function whole(events: string, { method }: ServedRequest): HttpResponse {
  return serverSentEvents(
    (sink) => {
      if (events !== '') sink.send(events);
      sink.end();
      return { drained: () => undefined, stop: () => undefined };
    },
    { method },
  );
}
