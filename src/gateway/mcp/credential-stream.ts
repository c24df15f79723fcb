import { asServiceError } from '../../core/errors.ts';
import { MCP_CODES } from '../../core/json-rpc.ts';
import type { McpBody } from './json-rpc-body.ts';

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
  /** Nothing more can be sent. */
  const forget = (): void => lost.removeEventListener('abort', end);
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
        const { done, value } = await reader.read().catch((error: unknown) => {
          forget();
          throw error;
        });
        if (lost.aborted) return;
        if (!done) return controller.enqueue(value);
        forget();
        controller.close();
      },
      cancel(reason) {
        forget();
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}

/** The answer to a request whose client may hear no more. */
export function refusalOf(id: string | number, reason: unknown): string {
  const { message, details } = asServiceError(reason);
  const error = { code: MCP_CODES.serverError, message, data: details };
  return `event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', id, error })}\n\n`;
}
