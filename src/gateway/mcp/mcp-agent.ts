import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import type { CallToolResult, ServerNotification, ServerRequest } from '@modelcontextprotocol/sdk/types.js';
import type { jsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/types.js';
import { z } from 'zod';
import type { AgentIdentity } from '../../core/agent-description.ts';
import { Image } from '../../core/conversation/image.ts';
import { SessionId } from '../../core/ids.ts';
import { inTrace, type RequestContext } from '../../core/request/request-context.ts';
import type { ReplyChunk } from '../../core/session/session-signal.ts';
import type { PendingApproval } from '../../core/session/session-view.ts';
import { checkImageSize, type MaxBytes } from '../../core/size-limits.ts';
import { traceContextOf } from '../../core/trace.ts';
import type { Bus } from '../../ports/bus.ts';
import type { Logger } from '../../ports/logger.ts';
import type { TurnMessage } from '../../ports/service-requests.ts';
import { clientError } from '../requests/client-error.ts';
import { howToDecide } from '../requests/queued-message.ts';
import { answerTurn } from '../requests/turn-answer.ts';
import { turnCancelled } from '../requests/turn-end.ts';
import { turnMessage } from '../requests/turn-message.ts';

export interface AgentCard extends AgentIdentity {
  /** Of the service. */
  readonly version: string;
  /** Provider and model, for people. */
  readonly model: string;
}

const SessionArgument = SessionId.optional().describe(
  'Name of the conversation. Without it, each MCP connection has its own conversation.',
);

export interface McpAgentDeps {
  readonly bus: Bus;
  /** As the agent is now. */
  readonly card: () => AgentCard;
  readonly maxRequestBytes: MaxBytes;
  readonly log: Logger;
}

/**
 * Saves an Ajv instance for each client. The SDK uses it only to check answers of clients to requests of the
 * server, and this server sends none.
 */
const noValidator: jsonSchemaValidator = {
  getValidator() {
    throw new Error('the agent sends no requests to its MCP clients');
  },
};

/** One MCP client. */
export interface McpClient {
  /** Conversation of this client, for calls that name none. */
  readonly ownSessionId: string;
  readonly context: RequestContext;
}

/** The agent as an MCP server, for one MCP client. */
export function mcpAgent(deps: McpAgentDeps, client: McpClient): McpServer {
  const { log } = deps;
  const card = deps.card();
  const server = new McpServer(
    { ...nameOf(card), title: card.name, version: card.version },
    {
      instructions: `${introduction(card)}An AI agent (${card.model}). Talk to it with the tool chat_with_agent.`,
      jsonSchemaValidator: noValidator,
      capabilities: { logging: {} },
    },
  );
  // Bad requests, and answers to clients that have disconnected. The service can do nothing about them.
  server.server.onerror = (err) => log.debug({ err }, 'an MCP message could not be handled');
  addChat(server, deps, client);
  addReset(server, deps, client);
  addResources(server, deps, client);
  return server;
}

function nameOf({ name, description }: AgentIdentity): AgentIdentity {
  return { name, ...(description !== undefined && { description }) };
}

function introduction({ name, description }: AgentIdentity): string {
  return description === undefined ? '' : `${name}: ${description} `;
}

function addChat(server: McpServer, deps: McpAgentDeps, { ownSessionId, context }: McpClient): void {
  server.registerTool(
    'chat_with_agent',
    {
      title: 'Chat with the agent',
      description:
        'Sends a message to the agent and answers with its full reply. The agent remembers the conversation.',
      inputSchema: {
        message: z.string().min(1).describe('What to say to the agent.'),
        imageData: Image.optional().describe('An image that the agent should see.'),
        sessionId: SessionArgument,
      },
      annotations: {
        readOnlyHint: false,
        destructiveHint: false,
        idempotentHint: false,
        openWorldHint: true,
      },
    },
    ({ message, imageData: image, sessionId = ownSessionId }, call) => {
      const asked = inTrace(askerOf(call, context), traceContextOf(call._meta));
      return chat({ ...deps, context: asked }, turnMessage({ sessionId, text: message, image }), call);
    },
  );
}

type Call = RequestHandlerExtra<ServerRequest, ServerNotification>;

/** @param opener who opened the MCP session: the same principal, perhaps with other rights. */
function askerOf({ authInfo }: Call, opener: RequestContext): RequestContext {
  const context = authInfo?.extra?.context;
  return isContext(context) ? context : opener;
}

function isContext(value: unknown): value is RequestContext {
  return typeof value === 'object' && value !== null && 'principal' in value && 'rights' in value;
}

async function chat(
  deps: McpAgentDeps & Pick<McpClient, 'context'>,
  message: TurnMessage,
  call: Call,
): Promise<CallToolResult> {
  const { bus, context, maxRequestBytes, log } = deps;
  const { sessionId, turnId, image } = message;
  const reason = 'the MCP client cancelled the call';
  const cancel = (): void => {
    bus.send('turn.cancel', { sessionId, turnId, reason }, context).catch((err: unknown) => {
      log.warn({ sessionId, turnId, err }, 'a turn could not be cancelled');
    });
  };
  try {
    checkImageSize(image, maxRequestBytes);
    // A cancellation that arrived together with the call was handled before it.
    if (call.signal.aborted) throw turnCancelled(reason);
    call.signal.addEventListener('abort', cancel, { once: true });
    const reply = await answerTurn(bus, message, context, {
      onChunk: progressReporter(call, message, log),
      onApprovals: approvalReporter(call, message, log),
    });
    return { content: [{ type: 'text', text: reply.content }] };
  } catch (thrown) {
    return toolError(thrown, sessionId, log);
  }
}

/** Sends the pieces of the reply to a client that asked for progress. `progress` counts their characters. */
function progressReporter(
  { _meta, sendNotification }: Call,
  { sessionId, turnId }: TurnMessage,
  log: Logger,
): (chunk: ReplyChunk) => void {
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined) return () => undefined;
  let progress = 0;
  return ({ content }) => {
    progress += content.length;
    const params = { progressToken, progress, message: content };
    sendNotification({ method: 'notifications/progress', params }).catch((err: unknown) => {
      log.debug({ sessionId, turnId, err }, 'a progress notification could not be sent');
    });
  };
}

/** Tells the client with a log message that its call waits until somebody has approved or denied tool calls. */
function approvalReporter(
  { sendNotification }: Call,
  { sessionId, turnId }: TurnMessage,
  log: Logger,
): (approvals: readonly PendingApproval[]) => void {
  return (approvals) => {
    const data = { message: `The agent needs approval. ${howToDecide(sessionId, approvals)}`, approvals };
    const params = { level: 'notice', logger: 'approvals', data } as const;
    sendNotification({ method: 'notifications/message', params }).catch((err: unknown) => {
      log.debug({ sessionId, turnId, err }, 'an MCP client could not be told of an approval');
    });
  };
}

function addReset(server: McpServer, { bus, log }: McpAgentDeps, { ownSessionId, context }: McpClient): void {
  server.registerTool(
    'reset_conversation',
    {
      title: 'Reset the conversation',
      description: 'Clears the history of the conversation and cancels a reply in progress.',
      inputSchema: { sessionId: SessionArgument },
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    },
    async ({ sessionId = ownSessionId }, call) => {
      try {
        await bus.send('session.reset', { sessionId }, askerOf(call, context));
        return { content: [{ type: 'text', text: 'The conversation was reset.' }] };
      } catch (thrown) {
        return toolError(thrown, sessionId, log);
      }
    },
  );
}

function addResources(server: McpServer, { bus, card }: McpAgentDeps, { context }: McpClient): void {
  server.registerResource(
    'agent-card',
    'agent://card',
    {
      title: 'Agent card',
      description: 'Name, version, model and tool servers of the agent.',
      mimeType: 'application/json',
    },
    async (uri, call) => {
      const servers = await bus.send('mcp-server.list', {}, askerOf(call, context));
      const text = JSON.stringify({
        ...card(),
        servers: servers.map(({ name, status }) => ({ name, status })),
      });
      return { contents: [{ uri: uri.href, mimeType: 'application/json', text }] };
    },
  );
  server.registerResource(
    'agent-configuration',
    'agent://config.yaml',
    {
      title: 'Agent configuration',
      description: 'The agent file, without secrets.',
      mimeType: 'application/yaml',
    },
    async (uri, call) => {
      const text = await bus.send('config.export', {}, askerOf(call, context));
      return { contents: [{ uri: uri.href, mimeType: 'application/yaml', text }] };
    },
  );
}

function toolError(thrown: unknown, sessionId: SessionId, log: Logger): CallToolResult {
  const { message, details } = clientError(thrown, log, { sessionId }, 'an MCP call failed unexpectedly');
  const reason = typeof details.reason === 'string' ? ` ${details.reason}` : '';
  return { isError: true, content: [{ type: 'text', text: `${message}${reason}` }] };
}
