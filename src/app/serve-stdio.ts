import type { Agent } from './compose.ts';

/** Speaks MCP on stdin and stdout, for desktop clients. Resolves when the client has gone. */
export async function serveStdio(agent: Agent, version: string): Promise<{ closed: Promise<void> }> {
  const [{ StdioServerTransport }, { mcpAgent }] = await Promise.all([
    import('@modelcontextprotocol/sdk/server/stdio.js'),
    import('../gateway/mcp-agent.ts'),
  ]);
  const card = { name: 'agent-service', version, model: agent.modelLabel };
  const server = mcpAgent(agent.bus, card, `mcp-${crypto.randomUUID()}`);
  const closed = Promise.withResolvers<void>();
  process.stdin.once('end', closed.resolve);
  process.stdin.once('close', closed.resolve);
  await server.connect(new StdioServerTransport());
  return { closed: closed.promise.then(() => server.close()) };
}
