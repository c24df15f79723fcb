import { pulledResponse } from '../pulled-response.ts';

/**
 * A response whose request is cancelled when the client closes the stream, as the newer era has it.
 *
 * @param isLeft whether the stream was closed for a reason that cancels nothing. What the request started then goes on.
 */
export function cancelledByLeaving(response: Response, isLeft: (reason: unknown) => boolean): Response {
  const { body } = response;
  if (!body) return response;
  return pulledResponse(response, body, {
    onCancel: async (reason, reader) => {
      if (!isLeft(reason)) return reader.cancel(reason);
      // Without a reader, the answer would be kept in memory for ever.
      void drain(reader);
    },
  });
}

async function drain(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  const { done } = await reader.read();
  if (!done) await drain(reader);
}
