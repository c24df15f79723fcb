/*
 * `scriptable-tools.ts` over stdio. Run it with the Node of the test:
 * { type: 'stdio', command: process.execPath, args: ['test/support/tools/mcp/scriptable-server.ts'] }
 */
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { scriptableTools } from './scriptable-tools.ts';

// The SDK's transport does not end the process when its input ends.
process.stdin.once('end', () => process.exit(0));
await scriptableTools().connect(new StdioServerTransport());
