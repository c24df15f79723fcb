import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { z } from 'zod';
import { asServiceError } from '../contract/errors.ts';
import { SessionId } from '../contract/ids.ts';
import type { Bus } from '../runtime/bus.ts';
import { answerTurn } from './turn-answer.ts';

export interface AgentCard {
  readonly name: string;
  readonly version: string;
  /** Provider and model, for people. */
  readonly model: string;
}

const SessionArgument = SessionId.optional().describe(
  'Name of the conversation. Left out, each MCP connection has a conversation of its own.',
);

/**
 * The agent as an MCP server, for one MCP client.
 * @param ownSessionId conversation of this client, used where a call names none.
 */
export function mcpAgent(bus: Bus, card: AgentCard, ownSessionId: string): McpServer {
  const server = new McpServer(
    { name: card.name, version: card.version },
    { instructions: `An AI agent (${card.model}). Talk to it with the tool chat_with_agent.` },
  );
  addChat(server, bus, ownSessionId);
  addReset(server, bus, ownSessionId);
  addResources(server, bus, card);
  return server;
}

function addChat(server: McpServer, bus: Bus, ownSessionId: string): void {
  server.registerTool(
    'chat_with_agent',
    {
      title: 'Chat with the agent',
      description:
        'Sends a message to the agent and answers with its full reply. The agent remembers the conversation.',
      inputSchema: {
        message: z.string().min(1).describe('What to say to the agent.'),
        sessionId: SessionArgument,
      },
      annotations: {
        readOnlyHint: false,
        destructiveHint: false,
        idempotentHint: false,
        openWorldHint: true,
      },
    },
    async ({ message, sessionId = ownSessionId }, { signal, _meta, sendNotification }) => {
      const turnId = crypto.randomUUID();
      const progressToken = _meta?.progressToken;
      const cancel = () =>
        bus.send('turn.cancel', { sessionId, turnId, reason: 'the MCP client cancelled the call' });
      signal.addEventListener('abort', () => void cancel(), { once: true });
      let progress = 0;
      const onChunk = ({ content }: { content: string }) => {
        if (progressToken === undefined) return;
        progress += content.length;
        const params = { progressToken, progress, message: content };
        void sendNotification({ method: 'notifications/progress', params });
      };
      try {
        const reply = await answerTurn(bus, { sessionId, turnId, text: message }, onChunk);
        return { content: [{ type: 'text', text: reply }] };
      } catch (thrown) {
        return toolError(thrown);
      }
    },
  );
}

function addReset(server: McpServer, bus: Bus, ownSessionId: string): void {
  server.registerTool(
    'reset_conversation',
    {
      title: 'Reset the conversation',
      description: 'Clears the history of the conversation; a reply in progress is cancelled.',
      inputSchema: { sessionId: SessionArgument },
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    },
    async ({ sessionId = ownSessionId }) => {
      try {
        await bus.send('session.reset', { sessionId });
        return { content: [{ type: 'text', text: 'The conversation was reset.' }] };
      } catch (thrown) {
        return toolError(thrown);
      }
    },
  );
}

function addResources(server: McpServer, bus: Bus, card: AgentCard): void {
  server.registerResource(
    'agent-card',
    'agent://card',
    {
      title: 'Agent card',
      description: 'Who this agent is and which tools it has.',
      mimeType: 'application/json',
    },
    async (uri) => {
      const servers = await bus.send('mcp-server.list', {});
      const text = JSON.stringify({
        ...card,
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
    async (uri) => {
      const text = await bus.send('config.export', {});
      return { contents: [{ uri: uri.href, mimeType: 'application/yaml', text }] };
    },
  );
}

function toolError(thrown: unknown): { isError: true; content: [{ type: 'text'; text: string }] } {
  const { message, details } = asServiceError(thrown);
  const reason = typeof details.reason === 'string' ? ` ${details.reason}` : '';
  return { isError: true, content: [{ type: 'text', text: `${message}${reason}` }] };
}
