import { MCP_CODES } from '../../../core/json-rpc.ts';
import type { HttpResponse } from '../../../ports/web-server.ts';
import { refusal } from '../mcp-exchange.ts';
import { pulledResponse } from '../pulled-response.ts';

/** How long a client waits before it comes back. */
export const RETRY_MS = 1_000;

/** The first revision whose clients take an event without data. */
const EMPTY_EVENTS_SINCE = '2025-11-25';

/**
 * Tells a client that has come back where it is, so that it can come back once more if the stream breaks before the next
 * event. Empty for clients that would take it for a broken message.
 */
export function primingEvent(eventId: string, revision: string | undefined): string {
  if (revision === undefined || revision < EMPTY_EVENTS_SINCE) return '';
  return `id: ${eventId}\nretry: ${RETRY_MS}\ndata: \n\n`;
}

/** The stream with a text in front. */
export function primed(response: Response, text: string): Response {
  const { body, status } = response;
  return body && status === 200 ? pulledResponse(response, body, { prefix: text }) : response;
}

export function noEventId(): HttpResponse {
  return refusal(
    400,
    MCP_CODES.serverError,
    'Last-Event-ID: this is no id of an event that the service has sent.',
  );
}

export function eventsNotKept(): HttpResponse {
  const message =
    'Last-Event-ID: nothing is kept of this stream for you any more. It may have ended long ago, or it is not yours. Open another one without this header.';
  return refusal(400, MCP_CODES.serverError, message);
}
