import { EventEmitter, once } from 'node:events';
import { inputRequired, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';

const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] });

/** Calls of `slow` that were cancelled, in all servers of this process. */
const cancellations = new EventEmitter();
let cancelled = 0;

/**
 * A server of 2026-07-28. Its tools:
 *
 * | tool | arguments | answer |
 * |---|---|---|
 * | `echo` | `message`, which is repeated as the header `Mcp-Param-Message` | the message |
 * | `roots` | | the answer of the client to `roots/list`, as JSON |
 * | `meta` | | what came beside the arguments, as JSON |
 * | `numbers` | | a list of the number 1, as text and as its output schema says |
 * | `slow` | `ms` | `done`, after so long; reports progress |
 * | `cancelled` | | how many calls of `slow` were cancelled, once there is one |
 * | `insatiable` | | none: it asks again and again |
 */
export function statelessTools(): McpServer {
  const server = new McpServer(
    { name: 'stateless', version: '1.0.0' },
    { capabilities: { logging: {}, tools: { listChanged: true } }, instructions: 'Be brief.' },
  );
  server.registerTool(
    'echo',
    {
      description: 'Says the message.',
      inputSchema: z.object({ message: z.string().meta({ 'x-mcp-header': 'Message' }) }),
    },
    ({ message }) => text(message),
  );
  server.registerTool('roots', { description: 'Asks for the roots.' }, (ctx) => {
    const { inputResponses, requestState } = ctx.mcpReq;
    if (inputResponses === undefined)
      return inputRequired({ inputRequests: { r: inputRequired.listRoots() }, requestState: 'state-1' });
    return text(JSON.stringify({ ...inputResponses, state: requestState() }));
  });
  server.registerTool('insatiable', { description: 'Asks for ever.' }, () =>
    inputRequired({ inputRequests: { r: inputRequired.listRoots() } }),
  );
  server.registerTool('meta', { description: 'Shows what came beside the arguments.' }, (ctx) =>
    text(JSON.stringify({ ...ctx.mcpReq.envelope })),
  );
  server.registerTool(
    'numbers',
    { description: 'Lists numbers.', outputSchema: z.array(z.number()) },
    () => ({ ...text('[1]'), structuredContent: [1] }),
  );
  addSlowTools(server);
  return server;
}

function addSlowTools(server: McpServer): void {
  server.registerTool(
    'slow',
    { description: 'Takes its time.', inputSchema: z.object({ ms: z.number() }) },
    async ({ ms }, ctx) => {
      const { signal, _meta, notify } = ctx.mcpReq;
      const progressToken = _meta?.progressToken;
      if (progressToken !== undefined)
        await notify({ method: 'notifications/progress', params: { progressToken, progress: 1 } });
      const { promise, resolve } = Promise.withResolvers<void>();
      const done = setTimeout(resolve, ms);
      signal.addEventListener('abort', () => {
        cancelled += 1;
        cancellations.emit('cancelled');
        resolve();
      });
      await promise;
      clearTimeout(done);
      return text('done');
    },
  );
  server.registerTool('cancelled', { description: 'Counts cancelled calls.' }, async () => {
    if (cancelled === 0) await once(cancellations, 'cancelled');
    return text(String(cancelled));
  });
}
