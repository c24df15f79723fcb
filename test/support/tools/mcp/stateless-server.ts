/* `stateless-tools.ts` over stdio, for clients of 2026-07-28 only. */
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { statelessTools } from './stateless-tools.ts';

process.stdin.once('end', () => process.exit(0));
serveStdio(statelessTools, { legacy: 'reject' });
