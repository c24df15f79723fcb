interface PulledStream {
  /** Text that comes before the stream. */
  readonly prefix?: string;
  /** Called when the client closes the stream. Without it, the reader is cancelled. */
  readonly onCancel?: (reason: unknown, reader: ReadableStreamDefaultReader<Uint8Array>) => Promise<void>;
}

/** The response with another stream in place of its own, which is read only as the client reads. */
export function pulledResponse(
  { status, headers }: Response,
  body: ReadableStream<Uint8Array>,
  { prefix = '', onCancel = (reason, reader) => reader.cancel(reason) }: PulledStream,
): Response {
  const reader = body.getReader();
  const stream = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        if (prefix !== '') controller.enqueue(Buffer.from(prefix));
      },
      async pull(controller) {
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: (reason) => onCancel(reason, reader),
    },
    { highWaterMark: 0 },
  );
  return new Response(stream, { status, headers });
}
