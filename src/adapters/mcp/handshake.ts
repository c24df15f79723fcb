import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { jsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/types.js';
import type { Attempt } from './attempt.ts';
import { failureText } from './failure/failure-text.ts';
import { McpConnection } from './mcp-connection.ts';
import type { ServerTransport } from './server-transport.ts';
import { within } from './within.ts';

const LONGEST_TIMER_MS = 2_147_483_647;

/** In place of an Ajv for each client. The methods that would ask it are not used: `OutputCheck` checks results. */
const noValidator: jsonSchemaValidator = {
  getValidator() {
    throw new Error('the client of a tool server checks no schemas');
  },
};

/** A handshake that failed. The message is fit for people; `cause` is what the SDK threw. */
export class HandshakeError extends Error {
  constructor(reason: string, cause: unknown) {
    super(reason, { cause });
    this.name = 'HandshakeError';
  }
}

/** Connects over the transport. When that fails, the transport is closed before this rejects. */
export async function handshake(
  attempt: Attempt,
  transport: ServerTransport,
  limitMs: number,
  pingIntervalMs?: number,
): Promise<McpConnection> {
  const client = new Client(
    { name: 'agent-service', version: attempt.clientVersion },
    { jsonSchemaValidator: noValidator },
  );
  try {
    attempt.signal.throwIfAborted();
    // The SDK's own time-out would send a cancellation, which the protocol forbids for `initialize`,
    // and does not cover the opening of an SSE stream.
    await within(client.connect(transport, { timeout: LONGEST_TIMER_MS }), limitMs, attempt.signal);
    if (transport.endReason !== undefined) throw new Error(transport.endReason);
    // No `await` from here on: an end in between would be noticed by nobody.
    return new McpConnection(attempt, client, transport, pingIntervalMs);
  } catch (error) {
    const reason = transport.endReason ?? transport.explain(failureText(error, attempt.mask));
    await transport.close();
    throw new HandshakeError(attempt.signal.aborted ? 'connecting was cancelled' : reason, error);
  }
}
