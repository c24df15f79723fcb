import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { McpClient } from '../../../src/adapters/mcp/client/mcp-client.ts';
import { McpConnection } from '../../../src/adapters/mcp/mcp-connection.ts';
import type { RequestId, RpcMessage } from '../../../src/adapters/mcp/peer/rpc-message.ts';
import type { ServerTransport } from '../../../src/adapters/mcp/server-transport.ts';
import type { ToolCallOptions } from '../../../src/ports/tool-server.ts';
import { RecordingLog } from '../../support/tools/mcp/recording-log.ts';

const TIMEOUT_MS = 200;
const HOUR_MS = 3_600_000;
const QUESTION = 'question';

/** A server whose only tool asks once, and answers when the test says so. */
class AskingServer implements ServerTransport {
  onmessage?: NonNullable<ServerTransport['onmessage']>;
  readonly endReason = undefined;
  readonly cancelled: unknown[] = [];
  /** Resolves when the server has the answer to its question. */
  readonly answered = Promise.withResolvers<void>();
  #callId: RequestId | undefined;

  async start(): Promise<void> {
    // There is nothing to open.
  }

  async send(message: RpcMessage): Promise<void> {
    if ('method' in message && message.method === 'tools/call' && 'id' in message) {
      this.#callId = message.id;
      const params = { message: 'Which one?' };
      this.onmessage?.({ jsonrpc: '2.0', id: QUESTION, method: 'elicitation/create', params });
    } else if ('method' in message) this.cancelled.push(message.method);
    else if (message.id === QUESTION) this.answered.resolve();
  }

  /** The server tells that it is still at work. */
  progress(): void {
    const params = { progressToken: this.#callId, progress: 1 };
    this.onmessage?.({ jsonrpc: '2.0', method: 'notifications/progress', params });
  }

  finish(): void {
    if (this.#callId === undefined) throw new Error('nothing was called');
    const result = { content: [{ type: 'text', text: 'done' }] };
    this.onmessage?.({ jsonrpc: '2.0', id: this.#callId, result });
  }

  async close(): Promise<void> {
    // There is nothing to close.
  }

  fail(): void {
    // No test ends the connection.
  }

  explain(reason: string): string {
    return reason;
  }
}

function connected(server: AskingServer): McpConnection {
  const events = { onClosed: () => undefined, onNote: () => undefined, onToolsChanged: () => undefined };
  const mask = (text: string): string => text;
  const clientInfo = { name: 'agent-service', version: '1.2.3' };
  return new McpConnection({
    name: 'asking',
    log: new RecordingLog(),
    schemas: { ofResult: async () => ({}) },
    mask,
    events,
    transport: server,
    client: new McpClient({ transport: server, mask, clientInfo, answers: { elicitation: true }, events }),
    hello: { era: 'sessions', version: '2025-11-25', capabilities: {}, instructions: undefined },
    timeoutMs: TIMEOUT_MS,
    pingIntervalMs: undefined,
  });
}

/** A call whose question has been asked and waits. */
function askedCall(options: ToolCallOptions = {}) {
  const server = new AskingServer();
  const answer = Promise.withResolvers<{ action: string }>();
  const outcome = connected(server).callTool('ask', {}, { ...options, onQuestion: () => answer.promise });
  return { server, answer, outcome };
}

describe('the time-out of a call whose server asks something', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test('does not run while the question waits for its answer', async () => {
    const { server, answer, outcome } = askedCall();
    await vi.advanceTimersByTimeAsync(HOUR_MS);
    server.progress();
    await vi.advanceTimersByTimeAsync(HOUR_MS);
    answer.resolve({ action: 'decline' });
    await server.answered.promise;
    await vi.advanceTimersByTimeAsync(TIMEOUT_MS - 1);
    server.finish();
    expect(await outcome).toMatchObject({ status: 'succeeded' });
    expect(server.cancelled).toEqual([]);
  });

  test('begins anew when the question is answered', async () => {
    const { server, answer, outcome } = askedCall();
    await vi.advanceTimersByTimeAsync(HOUR_MS);
    answer.resolve({ action: 'decline' });
    await server.answered.promise;
    await vi.advanceTimersByTimeAsync(TIMEOUT_MS);
    expect(await outcome).toMatchObject({ status: 'failed', reason: expect.stringContaining('200 ms') });
    expect(server.cancelled).toEqual(['notifications/cancelled']);
  });

  test('leaves no timer behind when the call is cancelled before the answer', async () => {
    const abort = new AbortController();
    const { server, answer, outcome } = askedCall({ signal: abort.signal });
    await vi.advanceTimersByTimeAsync(HOUR_MS);
    abort.abort();
    await outcome;
    const before = vi.getTimerCount();
    answer.resolve({ action: 'decline' });
    await server.answered.promise;
    expect(vi.getTimerCount()).toBe(before);
  });
});
