import { asServiceError } from '../../core/errors.ts';
import type { McpBody } from './json-rpc-body.ts';

/** "Connection closed", as the MCP SDK has it. */
const CLOSED_CODE = -32000;

/**
 * The stream as long as the credential of its client is good. When `lost` is aborted, the requests of the body are
 * answered with an error, and the stream ends. What they started goes on, as when a client disconnects.
 */
export function untilLost(
  stream: ReadableStream<Uint8Array>,
  lost: AbortSignal,
  body: McpBody,
): ReadableStream<Uint8Array> {
  const reader = stream.getReader();
  let end = (): void => undefined;
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        end = () => {
          for (const id of body.requestIds) controller.enqueue(Buffer.from(refusalOf(id, lost.reason)));
          controller.close();
          void reader.cancel(lost.reason);
        };
        if (lost.aborted) end();
        else lost.addEventListener('abort', end);
      },
      async pull(controller) {
        const { done, value } = await readOr(reader, () => lost.removeEventListener('abort', end));
        if (lost.aborted) return;
        if (!done) return controller.enqueue(value);
        lost.removeEventListener('abort', end);
        controller.close();
      },
      cancel(reason) {
        lost.removeEventListener('abort', end);
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}

/** The next part of a stream. @param onBroken called before it rejects: then nothing can be sent any more. */
async function readOr<T>(reader: { read(): Promise<T> }, onBroken: () => void): Promise<T> {
  try {
    return await reader.read();
  } catch (error) {
    onBroken();
    throw error;
  }
}

/** The answer to a request whose client may hear no more. */
export function refusalOf(id: string | number, reason: unknown): string {
  const { message, details } = asServiceError(reason);
  const error = { code: CLOSED_CODE, message, data: details };
  return `event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', id, error })}\n\n`;
}
