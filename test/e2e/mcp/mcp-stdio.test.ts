import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { expect } from 'vitest';
import { z } from 'zod';
import { readPackageVersion } from '../../../src/app/package-root.ts';
import { describeWays } from '../../support/project/describe-ways.ts';
import { projectRoot } from '../../support/project/source-imports.ts';
import { agentFolder } from '../../support/service/agent-folder.ts';
import { processEnd } from '../../support/service/process-life.ts';
import { ServiceProcess } from '../../support/service/service-process.ts';
import { scriptableServer } from '../../support/tools/mcp/tool-servers.ts';
import { McpClient } from '../../support/tools/mcp-client.ts';
import { INITIALIZE } from '../../support/tools/mcp-http.ts';
import { verifies } from '../requirements.ts';

const ARGS = ['--mode', 'mcp', '--transport', 'stdio', '--agent', 'agent.yml', '--log-level', 'debug'];
const YAML = `
llm:
  provider: scripted
  model: offline
  script:
    - { when: "^slow (\\\\d+)", reply: "one two three", chunks: 3, delayMs: 150 }
    - { when: "^endless", reply: "on and on and on", chunks: 16, delayMs: 60000 }
mcpServers: ${JSON.stringify({ tools: scriptableServer() })}
server: { drainTimeoutMs: 20000 }
`;

const Message = z.looseObject({ jsonrpc: z.literal('2.0'), id: z.number().nullish() });
const Reply = z.object({ result: z.object({ content: z.tuple([z.object({ text: z.string() })]) }) });
const LogLine = z.looseObject({ level: z.number(), msg: z.string() });

const lines = (messages: readonly object[]): string =>
  messages.map((message) => `${JSON.stringify(message)}\n`).join('');

const call = (id: number, message: string, more: object = {}) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name: 'chat_with_agent', arguments: { message }, ...more },
});

/** What was printed, which must be messages of the protocol and nothing else. */
function messagesIn(stdout: string): z.infer<typeof Message>[] {
  expect(stdout.endsWith('\n')).toBe(true);
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => Message.parse(JSON.parse(line)));
}

const replyTo = (id: number, messages: readonly z.infer<typeof Message>[]): string =>
  Reply.parse(messages.find((message) => message.id === id)).result.content[0].text;

describeWays('MCP over stdin and stdout', (way) => {
  verifies('cli.stdio', async () => {
    await using folder = await agentFolder(YAML);
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [join(projectRoot, way.script), ...ARGS],
      cwd: folder.path,
      stderr: 'pipe',
    });
    const log = text(transport.stderr as Readable);
    const client = await McpClient.over(transport);
    expect(client.sdk.getServerVersion()).toMatchObject({
      name: 'agent-service',
      version: readPackageVersion(),
    });
    const { tools } = await client.sdk.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['chat_with_agent', 'reset_conversation']);
    const { reply, progress } = await client.chatWithProgress('slow 1');
    expect(reply).toBe('one two three');
    expect(progress.map(({ message }) => message).join('')).toBe(reply);
    const pid = Number(/\d+/.exec(await client.chat('use pid'))?.[0]);
    expect(pid).toBeGreaterThan(1);
    const { contents } = await client.sdk.readResource({ uri: 'agent://card' });
    expect(contents).toHaveLength(1);
    await client[Symbol.asyncDispose]();
    await processEnd(pid);
    const logged = (await log).trimEnd().split('\n');
    expect(logged.length).toBeGreaterThan(1);
    for (const line of logged) LogLine.parse(JSON.parse(line));
  });

  verifies(
    'cli.stdio',
    'what was asked before the input ended is answered, and the process exits with 0',
    async () => {
      await using folder = await agentFolder(YAML);
      await using service = new ServiceProcess(ARGS, { cwd: folder.path, script: way.script });
      const asked = [call(2, 'slow 2'), { jsonrpc: '2.0', id: 3, method: 'ping' }];
      // As in: cat requests | agent-service --mode mcp --transport stdio
      service.stdin.end(`not json\n${lines([INITIALIZE, ...asked])}`);
      const { code, signal, stdout } = await service.ended;
      expect([code, signal]).toEqual([0, null]);
      const messages = messagesIn(stdout);
      expect(messages.map(({ id }) => id).sort()).toEqual([1, 2, 3, null]);
      expect(messages[0]).toMatchObject({ id: null, error: { code: -32_700 } });
      expect(replyTo(2, messages)).toBe('one two three');
    },
  );

  verifies(
    'cli.stdio',
    'a client that reads no more is one that has gone: no crash, and no tool server is left',
    async () => {
      await using folder = await agentFolder(YAML);
      await using service = new ServiceProcess(ARGS, { cwd: folder.path, script: way.script });
      service.stdin.write(lines([INITIALIZE, call(2, 'use pid'), call(3, 'endless')]));
      const [, id] = await service.stdout(/pid[^0-9]+(\d+)/);
      service.stdin.write(
        lines([{ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 3 } }]),
      );
      service.stdin.write(lines([call(4, 'slow 4', { _meta: { progressToken: 'p' } })]));
      await service.stdout(/"progressToken":"p"/);
      service.closeStdout();
      expect(await service.ended).toMatchObject({ code: 0, signal: null });
      await processEnd(Number(id));
    },
  );

  verifies('cli.stdio', 'SIGTERM lets the running call be answered', async () => {
    await using folder = await agentFolder(YAML);
    await using service = new ServiceProcess(ARGS, { cwd: folder.path, script: way.script });
    service.stdin.write(lines([INITIALIZE, call(2, 'slow 2', { _meta: { progressToken: 'p' } })]));
    await service.stdout(/"progressToken":"p"/);
    service.kill('SIGTERM');
    const { code, signal, stdout } = await service.ended;
    expect([code, signal]).toEqual([0, null]);
    expect(replyTo(2, messagesIn(stdout))).toBe('one two three');
  });
});
