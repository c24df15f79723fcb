/**
 * A response whose request is cancelled when the client closes the stream, as the newer era has it.
 *
 * @param isLeft whether the stream was closed for a reason that cancels nothing. What the request started then goes on.
 */
export function cancelledByLeaving(response: Response, isLeft: (reason: unknown) => boolean): Response {
  const { body, status, headers } = response;
  if (!body) return response;
  const reader = body.getReader();
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      async cancel(reason) {
        if (!isLeft(reason)) return reader.cancel(reason);
        // Without a reader, the answer would be kept in memory for ever.
        void drain(reader);
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(stream, { status, headers });
}

async function drain(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  const { done } = await reader.read();
  if (!done) await drain(reader);
}
