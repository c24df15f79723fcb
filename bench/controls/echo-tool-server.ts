import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';

/* An MCP tool server over stdio. Its only tool, `echo`, returns its argument. */
const server = new McpServer({ name: 'echo', version: '1.0.0' });
server.registerTool('echo', { inputSchema: { message: z.string() } }, ({ message }) => ({
  content: [{ type: 'text', text: message }],
}));
// The SDK's transport does not end the process when its input ends.
process.stdin.once('end', () => process.exit(0));
await server.connect(new StdioServerTransport());
