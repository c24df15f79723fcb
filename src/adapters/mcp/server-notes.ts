import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { ErrorCode, LoggingMessageNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import type { ServerNote } from '../../core/tool-server/server-log.ts';
import { shorten } from './failure/failure-text.ts';
import type { Mask } from './failure/secret-mask.ts';

const MAX_CHARACTERS = 2_000;

/** Tells what the server logs over MCP and what it asks of the client, which refuses it. */
export function tellNotes(client: Client, mask: Mask, tell: (note: ServerNote) => void): void {
  const shown = (value: unknown): string => {
    const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
    return shorten(mask(text), MAX_CHARACTERS);
  };
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => {
    const { level, logger, data } = params;
    tell({ source: 'log', level, ...(logger !== undefined && { logger: shown(logger) }), text: shown(data) });
  });
  client.fallbackRequestHandler = async ({ method, params }) => {
    const answer = 'refused: this service does not offer it to tool servers';
    tell({ source: 'request', method: shown(method), text: shown(params), answer });
    throw new MethodNotFoundError();
  };
}

/** What the SDK answers itself when there is no handler. */
class MethodNotFoundError extends Error {
  readonly code = ErrorCode.MethodNotFound;

  constructor() {
    super('Method not found');
  }
}
