import { EVENT_STREAM_HEADERS, HEARTBEAT, HEARTBEAT_MS } from '../../sse/event-stream.ts';

/**
 * The answer to a request, as it is if it comes soon. A later one comes in a stream that is begun before, so that neither the
 * client nor a proxy takes the silence for the end of the connection.
 *
 * @param cancel called when the client closes the stream before the answer comes.
 */
export async function streamedIfLate(answer: Promise<Response>, cancel: () => void): Promise<Response> {
  const late = Promise.withResolvers<Response>();
  const timer = setTimeout(() => late.resolve(streamed(answer, cancel)), HEARTBEAT_MS);
  try {
    return await Promise.race([answer, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

function streamed(answer: Promise<Response>, cancel: () => void): Response {
  let heartbeat: NodeJS.Timeout | undefined;
  let events: ReadableStreamDefaultReader<Uint8Array> | undefined;
  const stream = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        heartbeat = setInterval(() => controller.enqueue(Buffer.from(HEARTBEAT)), HEARTBEAT_MS);
        heartbeat.unref();
      },
      async pull(controller) {
        events ??= (await eventsOf(answer).finally(() => clearInterval(heartbeat))).getReader();
        const { done, value } = await events.read();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      async cancel(reason) {
        clearInterval(heartbeat);
        if (events) await events.cancel(reason);
        else cancel();
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(stream, { headers: EVENT_STREAM_HEADERS });
}

/** An answer that is one message becomes the only event. Its HTTP status is lost: the head was sent before. */
async function eventsOf(answer: Promise<Response>): Promise<ReadableStream<Uint8Array>> {
  const response = await answer;
  if (response.body && response.headers.get('content-type')?.startsWith('text/event-stream'))
    return response.body;
  const message = await response.text();
  return new Blob(message === '' ? [] : [`event: message\ndata: ${message}\n\n`]).stream();
}
