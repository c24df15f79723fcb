import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { UrlElicitationRequiredError } from '@modelcontextprotocol/sdk/types.js';
import { type StreamableServer, streamableServer } from './http-servers.ts';

/** A server whose tool `pay` refuses calls, so many times, until a person has opened two addresses. */
export function visitedServer(refusals: number): Promise<StreamableServer> {
  let left = refusals;
  const visit = (elicitationId: string) => {
    const url = `https://bank.example/${elicitationId}`;
    return { mode: 'url' as const, message: 'Sign in', elicitationId, url };
  };
  return streamableServer({
    tools: () => {
      const server = new McpServer({ name: 'bank', version: '1.0.0' });
      server.registerTool('pay', {}, async () => {
        if (left === 0) return { content: [{ type: 'text', text: 'paid' }] };
        left -= 1;
        throw new UrlElicitationRequiredError([visit('a'), visit('b')]);
      });
      return server;
    },
  });
}
