import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { ShapeServer } from '../../providers/shape-server.ts';
import { anthropicMessagesShapes } from '../../providers/shapes/anthropic-messages.ts';
import { openaiChatShapes } from '../../providers/shapes/openai-chat.ts';
import { openaiResponsesShapes } from '../../providers/shapes/openai-responses.ts';
import { describeWays, type Way } from '../../support/project/describe-ways.ts';
import { projectRoot } from '../../support/project/source-imports.ts';
import { agentFolder } from '../../support/service/agent-folder.ts';
import { checkedProvider } from '../../support/service/checked-provider.ts';
import { SCRIPTED } from '../../support/service/running-service.ts';
import { type ListeningService, ServiceProcess } from '../../support/service/service-process.ts';
import type { TempDirectory } from '../../support/service/temp-directory.ts';
import { EventSourceStream } from '../../support/sockets/event-source.ts';
import { connectClient } from '../../support/sockets/websocket-client.ts';
import { MetricValues } from '../../support/telemetry/metric-values.ts';
import { OtlpReceiver } from '../../support/telemetry/otlp-receiver.ts';
import { streamableServer } from '../../support/tools/mcp/http-servers.ts';
import { oddServer, scriptableServer } from '../../support/tools/mcp/tool-servers.ts';
import { mcpClient } from '../../support/tools/mcp-client.ts';
import { execute, serverWith, toolText } from '../../support/tools/tool-server-client.ts';
import { verifies } from '../requirements.ts';

const AGENT = ['--agent', 'agent.yml'];
/** Many starts, one after the other, while other tests take the processor. */
const COMMANDS_MS = 240_000;
/** As a terminal that reads the log. */
const TERMINAL = `data:text/javascript,${encodeURIComponent("Object.defineProperty(process.stderr, 'isTTY', { value: true })")}`;

interface Running extends AsyncDisposable {
  readonly service: ListeningService;
  readonly folder: TempDirectory;
  /** Starts it anew on the same log. */
  restart(): Promise<ListeningService>;
}

async function start(
  { script }: Way,
  yaml: string,
  { args = [] as string[], environment = {}, nodeFlags = [] as string[] } = {},
): Promise<Running> {
  const folder = await agentFolder(yaml);
  const options = { cwd: folder.path, script, environment, nodeFlags };
  const launch = () => ServiceProcess.listening([...AGENT, '--data-dir', 'log', ...args], options);
  let service = await launch();
  return {
    service,
    folder,
    restart: async () => {
      await stop(service);
      service = await launch();
      return service;
    },
    [Symbol.asyncDispose]: async () => {
      await service[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** @returns what it has written to standard error. */
async function stop(service: ListeningService): Promise<string> {
  service.process.kill('SIGTERM');
  const { code, stderr } = await service.process.ended;
  expect(code).toBe(0);
  return stderr;
}

const ask = async (service: ListeningService, message: string): Promise<unknown> =>
  (await service.post('/api/message-sync', { message, sessionId: 's' })).json();

describeWays('a service', (way) => {
  verifies('cli.bundle', 'documents, page and metrics', async () => {
    await using running = await start(way, SCRIPTED);
    const { service } = running;
    const textOf = async (path: string, accept = '*/*') => {
      const response = await service.fetch(path, { headers: { Accept: accept } });
      expect([path, response.status]).toEqual([path, 200]);
      return response.text();
    };
    expect(await textOf('/docs')).toContain(`curl -s 127.0.0.1:${service.port}/api/message-sync`);
    const css = await readFile(join(projectRoot, 'src/gateway/documents/docs.css'), 'utf8');
    expect(await textOf('/docs.css')).toBe(css);
    expect(JSON.parse(await textOf('/openapi.json'))).toMatchObject({ openapi: '3.1.0' });
    expect(JSON.parse(await textOf('/asyncapi.json'))).toMatchObject({ asyncapi: '3.0.0' });
    const page = join(way.root, 'dist', 'console', 'index.html');
    const expected = existsSync(page) ? await readFile(page, 'utf8') : expect.stringContaining('/docs');
    expect(await textOf('/', 'text/html')).toEqual(expected);
    expect(await textOf('/metrics')).toMatch(/^# HELP agent_/m);
    expect((await MetricValues.at(service.url)).series).toContain('agent_turns_total{outcome=completed}');
  });

  verifies('cli.bundle', 'WebSocket, statecharts, the inspector and /mcp', async () => {
    await using running = await start(way, SCRIPTED, { args: ['--inspect'] });
    const { service } = running;
    using socket = await connectClient(`ws://127.0.0.1:${service.port}/?session=s`);
    socket.say('thanks');
    const content = 'You are welcome!';
    expect((await socket.settled()).at(-1)).toEqual({ event: 'response', data: { content } });
    const states = await EventSourceStream.open(`${service.url}/api/statecharts`);
    const inspector = new WebSocket(`ws://127.0.0.1:${service.port}/inspect`);
    const inspected = new Promise((resolve) =>
      inspector.addEventListener('message', resolve, { once: true }),
    );
    expect(await ask(service, 'thanks')).toMatchObject({ response: content });
    for await (const { frame } of states) {
      expect(frame).toMatchObject({ machine: 'turn', sessionId: 's' });
      break;
    }
    await inspected;
    inspector.close();
    await using client = await mcpClient(service);
    expect(await client.chat('thanks')).toBe(content);
  });

  for (const list of [openaiChatShapes, openaiResponsesShapes, anthropicMessagesShapes])
    verifies('cli.bundle', `a real model over ${list.api}`, async () => {
      await using provider = await ShapeServer.listen(list);
      const llm = { provider: list.provider, api: list.api, model: 'm', apiKey: '$A_KEY' };
      const yaml = JSON.stringify({ llm: { ...llm, baseURL: provider.baseURL } });
      await using running = await start(way, yaml, { environment: { A_KEY: 'a-key' } });
      const [first] = list.shapes;
      if (first === undefined || !('text' in first.expected)) throw new Error('the first is no reply');
      expect(await ask(running.service, 'shape 0')).toMatchObject({ response: first.expected.text });
    });

  verifies(
    'cli.bundle',
    'tool servers that are connected while it runs, also after a restart',
    async () => {
      await using remote = await streamableServer();
      await using running = await start(way, SCRIPTED);
      const far = { type: 'http', baseUrl: remote.url, headers: { 'x-key': 'a-key' } };
      for (const [name, config] of Object.entries({ near: scriptableServer(), far })) {
        const connected = await running.service.post('/api/connect-server', { name, config });
        expect(await connected.json()).toMatchObject({ status: 'connected', name });
      }
      const service = await running.restart();
      for (const name of ['near', 'far']) {
        await serverWith(service, name, 'connected');
        expect(await toolText(service, name, 'add', { a: 20, b: 22 })).toBe('42');
      }
      expect(remote.requests.at(-1)?.headers['x-key']).toBe('a-key');
    },
    COMMANDS_MS,
  );

  verifies('cli.bundle', 'the checks of what a tool is given and of what it answers', async () => {
    const mcpServers = { tools: scriptableServer(), odd: oddServer(['odd-tools']) };
    await using running = await start(way, `${SCRIPTED}mcpServers: ${JSON.stringify(mcpServers)}`);
    const { service } = running;
    for (const name of ['tools', 'odd']) await serverWith(service, name, 'connected');
    const refused = await execute(service, 'tools', 'add', { a: 'twenty' });
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('must be number')]);
    expect(await ask(service, 'use add {"a": "twenty", "b": 1}')).toMatchObject({
      response: expect.stringContaining('must be number'),
    });
    expect(await ask(service, 'use liar')).toMatchObject({
      response: expect.stringContaining("must have required property 'sum'"),
    });
  });

  verifies('cli.bundle', 'traces, and the log on a terminal', async () => {
    await using collector = await OtlpReceiver.listen();
    const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
    await using running = await start(way, SCRIPTED, { environment, nodeFlags: ['--import', TERMINAL] });
    await ask(running.service, 'thanks');
    const log = await stop(running.service);
    // Says which it was, if the spans below are missing: sent late, or never.
    expect(log).not.toMatch(/spans could not be sent/);
    expect(collector.span('chat offline').parentSpanId).toBe(
      collector.span('invoke_agent agent-service').spanId,
    );
    // Lines for people, not JSON.
    expect(log).toMatch(/^\[\d\d:\d\d:\d\d\] INFO: .*stopping/m);
  });
});

describeWays('a command', (way) => {
  const run = async (cwd: string, args: string[], { environment = {}, input = '' } = {}) => {
    await using command = new ServiceProcess(args, { cwd, script: way.script, environment });
    command.stdin.end(input);
    return await command.ended;
  };
  const succeed = async (cwd: string, ...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await run(cwd, [...args, '--data-dir', 'log']);
    expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' });
    return stdout;
  };

  verifies(
    'cli.bundle',
    'chat, export, import, sessions, replay and repair',
    async () => {
      await using running = await start(way, SCRIPTED);
      const { service, folder } = running;
      const chat = await run(folder.path, ['chat', '--url', service.url, '--session', 's'], {
        input: 'thanks\n',
      });
      expect(chat).toMatchObject({ code: 0, stdout: 'You are welcome!\n', stderr: '' });
      await stop(service);
      const exported = await succeed(folder.path, 'export', 's');
      await writeFile(join(folder.path, 's.jsonl'), exported);
      await succeed(folder.path, 'import', 's.jsonl', '--session', 'copy');
      const sessions = (await succeed(folder.path, 'sessions')).trimEnd().split('\n');
      expect(sessions.map((line) => JSON.parse(line).sessionId)).toEqual(['copy', 's']);
      expect(await succeed(folder.path, 'replay', 's')).toMatch(/^4 events, all as recorded$/m);
      expect(await run(folder.path, ['repair', '--data-dir', 'log'])).toMatchObject({
        code: 0,
        stderr: 'agent-service: the log is intact (8 events in 2 sessions); there is nothing to repair\n',
      });
    },
    COMMANDS_MS,
  );

  verifies('cli.bundle', 'init and check, and a start that is refused', async () => {
    await using provider = await checkedProvider();
    await using folder = await agentFolder(SCRIPTED);
    const model = ['--provider', 'openai', '--model', 'm', '--base-url', provider.baseURL];
    const environment = { OPENAI_API_KEY: 'a-key' };
    const checked = await run(folder.path, ['init', 'mine.yml', ...model, '--check'], { environment });
    expect(checked).toMatchObject({ code: 0, stderr: '' });
    expect(checked.stdout).toMatch(/^mine\.yml is written\..*\n✓ provider /s);
    const refused = await run(folder.path, [...AGENT, '--host', '203.0.113.7', '--web-port', '0']);
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toMatch(/^agent-service: [^\n]*203\.0\.113\.7[^\n]*\n$/);
  });
});
