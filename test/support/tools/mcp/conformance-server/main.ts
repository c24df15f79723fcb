/*
 * A tool server that has what the conformance suite of MCP asks of a server: `node main.ts [--sessions]`. It speaks
 * over stdio, in both eras, or only in that of 2025-11-25 with `--sessions`.
 */
import { createRequestStateCodec, McpServer } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { addContentTools } from './content-tools.ts';
import { addInputTools } from './input-tools.ts';
import { addPrompts } from './prompts.ts';
import { addResources } from './resources.ts';

const states = createRequestStateCodec({ key: 'of the conformance server, and of nobody else' });

function conformanceServer(): McpServer {
  const server = new McpServer(
    { name: 'conformance', version: '1.0.0' },
    {
      capabilities: {
        logging: {},
        completions: {},
        tools: { listChanged: true },
        prompts: { listChanged: true },
        resources: { listChanged: true, subscribe: true },
      },
      requestState: { verify: states.verify },
    },
  );
  addContentTools(server);
  addInputTools(server, states);
  addResources(server);
  addPrompts(server);
  return server;
}

if (process.argv.includes('--sessions')) await conformanceServer().connect(new StdioServerTransport());
else serveStdio(conformanceServer);
