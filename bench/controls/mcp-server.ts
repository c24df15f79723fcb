import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';

/*
 * The control of the bench `mcp`: a server of the MCP SDK over streamable HTTP, as the SDK's documentation shows it. It
 * has the tool of the service, without an agent behind it.
 */
const sessions = new Map<string, StreamableHTTPServerTransport>();

async function open(): Promise<StreamableHTTPServerTransport> {
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => void sessions.set(id, transport),
    onsessionclosed: (id) => void sessions.delete(id),
  });
  const server = new McpServer({ name: 'plain', version: '1.0.0' });
  server.registerTool('chat_with_agent', { inputSchema: { message: z.string().min(1) } }, ({ message }) => ({
    content: [{ type: 'text', text: `you said ${message}` }],
  }));
  await server.connect(transport);
  return transport;
}

async function handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
  const id = req.headers['mcp-session-id'];
  const transport = typeof id === 'string' ? sessions.get(id) : await open();
  if (transport) await transport.handleRequest(req, res);
  else res.writeHead(404).end('no such session');
}

const http = createServer((req, res) => {
  handle(req, res).catch((error: unknown) => {
    process.stderr.write(`${error}\n`);
    res.destroy();
  });
});
http.listen(0, '127.0.0.1', () => {
  const address = http.address();
  if (address !== null && typeof address === 'object')
    process.stdout.write(`mcp-server is listening on http://127.0.0.1:${address.port}\n`);
});
