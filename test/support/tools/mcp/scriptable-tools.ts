import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { McpError } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';

const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] });

/**
 * A well-behaved MCP server with a tool for each thing a test may want to see. Its tools:
 *
 * | tool | arguments | answer |
 * |---|---|---|
 * | `echo` | `message` | the message; read-only |
 * | `add` | `a`, `b` | the sum, as text and as `{ sum }`; idempotent |
 * | `fail` | `reason` | an `isError` result with the reason |
 * | `slow` | `ms`, `progressEveryMs?` | `done`, after so long or as soon as it is cancelled; reports progress |
 * | `cancelled` | `atLeast?` | how many calls of `slow` were cancelled, once there are so many |
 * | `log` | `text` | `logged`, after an MCP log message and a line on stderr with the text |
 * | `ask` | `method`, `params?`, `related?` | the client's answer as JSON, or the error code of its refusal; with `related` on the stream of the call |
 * | `crash` | `code?` | none: the process exits |
 * | `env` | | the environment of the process, as JSON |
 * | `pid` | | the process id |
 * | `spawn_child` | | starts a process that runs for ever, and gives its id |
 * | `add_tool` | `name` | registers a tool that says its name; the server sends `tools/list_changed` |
 */
export function scriptableTools(): McpServer {
  const server = new McpServer({ name: 'scriptable', version: '1.0.0' }, { capabilities: { logging: {} } });
  addPlainTools(server);
  addSlowTools(server);
  addTalkingTools(server);
  addProcessTools(server);
  return server;
}

function addPlainTools(server: McpServer): void {
  server.registerTool(
    'echo',
    {
      description: 'Says the message.',
      inputSchema: { message: z.string() },
      annotations: { readOnlyHint: true },
    },
    ({ message }) => text(message),
  );
  server.registerTool(
    'add',
    {
      description: 'Adds two numbers.',
      inputSchema: { a: z.number(), b: z.number() },
      outputSchema: { sum: z.number() },
      annotations: { idempotentHint: true },
    },
    ({ a, b }) => ({ ...text(String(a + b)), structuredContent: { sum: a + b } }),
  );
  server.registerTool(
    'fail',
    { description: 'Fails.', inputSchema: { reason: z.string() } },
    ({ reason }) => ({ ...text(reason), isError: true }),
  );
  server.registerTool(
    'add_tool',
    { description: 'Registers a tool.', inputSchema: { name: z.string() } },
    ({ name }) => {
      server.registerTool(name, { description: 'Says its name.' }, () => text(name));
      return text(`registered ${name}`);
    },
  );
}

function addSlowTools(server: McpServer): void {
  let cancelled = 0;
  const cancellations = new EventEmitter();
  server.registerTool(
    'slow',
    {
      description: 'Takes its time.',
      inputSchema: { ms: z.number(), progressEveryMs: z.number().optional() },
    },
    async ({ ms, progressEveryMs }, { signal, _meta, sendNotification }) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const done = setTimeout(resolve, ms);
      const cancel = () => {
        cancelled += 1;
        cancellations.emit('cancelled');
        resolve();
      };
      // The cancellation may have come together with the call.
      if (signal.aborted) cancel();
      else signal.addEventListener('abort', cancel);
      let progress = 0;
      const report = () => {
        const progressToken = _meta?.progressToken;
        if (progressToken === undefined) return;
        progress += 1;
        void sendNotification({ method: 'notifications/progress', params: { progressToken, progress } });
      };
      const ticks = progressEveryMs === undefined ? undefined : setInterval(report, progressEveryMs);
      await promise;
      clearTimeout(done);
      clearInterval(ticks);
      return text('done');
    },
  );
  server.registerTool(
    'cancelled',
    { description: 'Counts cancelled calls.', inputSchema: { atLeast: z.number().default(0) } },
    async ({ atLeast }) => {
      while (cancelled < atLeast) await once(cancellations, 'cancelled');
      return text(String(cancelled));
    },
  );
}

function addTalkingTools(server: McpServer): void {
  server.registerTool(
    'log',
    { description: 'Logs a text.', inputSchema: { text: z.string() } },
    async (args) => {
      const data = { said: args.text };
      await server.server.sendLoggingMessage({ level: 'warning', logger: 'script', data });
      process.stderr.write(`${args.text}\n`);
      return text('logged');
    },
  );
  server.registerTool(
    'ask',
    {
      description: 'Asks the client.',
      inputSchema: {
        method: z.string(),
        params: z.record(z.string(), z.unknown()).optional(),
        related: z.boolean().default(false),
      },
    },
    async ({ method, params, related }, { requestId }) => {
      // The typed methods of the SDK refuse to ask for what the client has not offered.
      const request = { method: method as 'ping', ...(params && { params }) };
      return await server.server
        .request(request, z.looseObject({}), related ? { relatedRequestId: requestId } : {})
        .then(
          (answer) => text(Object.keys(answer).length === 0 ? 'it was not refused' : JSON.stringify(answer)),
          (error: unknown) => text(error instanceof McpError ? String(error.code) : String(error)),
        );
    },
  );
}

function addProcessTools(server: McpServer): void {
  server.registerTool(
    'crash',
    { description: 'Ends the process.', inputSchema: { code: z.number().optional() } },
    ({ code }) => process.exit(code ?? 1),
  );
  server.registerTool('env', { description: 'Shows the environment.' }, () =>
    text(JSON.stringify(process.env)),
  );
  server.registerTool('meta', { description: 'Shows what came beside the arguments.' }, ({ _meta }) =>
    text(JSON.stringify(_meta ?? {})),
  );
  server.registerTool('pid', { description: 'Shows the process id.' }, () => text(String(process.pid)));
  server.registerTool('spawn_child', { description: 'Starts a process.' }, () => {
    // It shares stdout with this server, as the children of a launcher do.
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' });
    return text(String(child.pid));
  });
}
