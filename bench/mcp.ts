import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { control, type Subject, startEach } from './support/contenders.ts';
import { loadHttp, syncMessage } from './support/http-load.ts';
import { McpClient } from './support/mcp-client.ts';
import { latencyColumns, measured } from './support/measured.ts';
import type { Report } from './support/report.ts';
import { excess, interleave, ratio, type Sample, seriesOf } from './support/rounds.ts';
import type { Scope } from './support/scope.ts';
import { controlFile, floor, SERVICE, service, started } from './support/subjects.ts';

export const question =
  'How many tool calls a second does /mcp answer, and what does a tool call cost through the agent?';

/** Control of the served calls: controls/mcp-server.ts, with the same tool and no agent behind it. */
const SDK = 'plain: an MCP server of the SDK';
const WITH_TOOL = `${SERVICE}, a message with a tool call`;
const WITHOUT_TOOL = `${SERVICE}, a message without`;
/** Control of the tool calls: the SDK's client calls the tool server over stdio, without a service. */
const DIRECT = "floor: the SDK's client calls the tool directly";
const toolServer = fileURLToPath(new URL('controls/echo-tool-server.ts', import.meta.url));
const toolCommand = { command: process.execPath, args: [toolServer] };
const withTool = {
  llm: {
    provider: 'scripted',
    model: 'bench',
    script: [
      { when: '^tool$', toolCalls: [{ tool: 'echo', arguments: { message: 'hello' } }] },
      { when: '([^]*)', reply: 'you said $1' },
    ],
  },
  mcpServers: { echo: { type: 'stdio', ...toolCommand } },
};

export async function run(scope: Scope): Promise<Report> {
  const subjects = await servers(scope);
  const perRound = scope.quick ? 48 : 1_600;
  for (const subject of subjects) await callAgent(subject, perRound);
  const serving = await interleave(scope.rounds(3), {}, subjects, (subject) => callAgent(subject, perRound));
  const waysToCall = await callers(scope, scope.quick ? 20 : 300);
  // Not measured: the first message waits until the tool server is connected.
  for (const { call } of waysToCall) await call();
  const calling = await interleave(scope.rounds(5), {}, waysToCall, ({ call }) => call());
  return {
    series: [...serving, ...calling],
    targets: () => [
      {
        what: "/mcp: calls/s relative to the SDK's server",
        measured: ratio(seriesOf(serving, SERVICE), seriesOf(serving, SDK), 'calls/s'),
      },
      {
        what: 'a tool call through the agent: ms more than a message without',
        measured: excess(seriesOf(calling, WITH_TOOL), seriesOf(calling, WITHOUT_TOOL), 'p50 ms'),
      },
    ],
  };
}

function servers(scope: Scope): Promise<Subject[]> {
  const sdk = control(scope, SDK, () => started(scope, controlFile('mcp-server')));
  return startEach([floor(scope), service(scope), sdk].flat());
}

const CLIENTS = 16;

/** Each client has its own MCP session and makes one call at a time. */
async function callAgent({ server }: Subject, total: number): Promise<Sample> {
  const clients = await Promise.all(Array.from({ length: CLIENTS }, () => McpClient.open(server.port)));
  try {
    return await measured(server, 'call', async () => {
      const latencies: number[] = [];
      await Promise.all(
        clients.map(async (client) => {
          for (let call = 0; call < total / CLIENTS; call += 1) {
            const sent = performance.now();
            await client.call();
            latencies.push(performance.now() - sent);
          }
        }),
      );
      return { operations: latencies.length, latencies };
    });
  } finally {
    for (const client of clients) client.close();
  }
}

interface Caller {
  readonly name: string;
  readonly ref?: string | undefined;
  readonly call: () => Promise<Sample>;
}

/** Three ways to make a call. The calls follow one another, because the time of a call is measured. */
async function callers(scope: Scope, total: number): Promise<Caller[]> {
  const services = await startEach(service(scope, { agent: withTool }));
  let sessions = 0;
  const message = (name: string, text: string): Caller[] =>
    services.map(({ ref, server }) => ({
      name,
      ref,
      call: () => {
        sessions += 1;
        const requestOf = (index: number) => syncMessage(`tools-${sessions}-${index % 20}`, text);
        return measured(server, 'call', () => loadHttp({ port: server.port, inFlight: 1, total, requestOf }));
      },
    }));
  const direct = scope.isComparison ? [] : [await directCaller(scope, total)];
  return [...direct, ...message(WITHOUT_TOOL, 'hello'), ...message(WITH_TOOL, 'tool')];
}

async function directCaller(scope: Scope, total: number): Promise<Caller> {
  const client = new Client({ name: 'bench', version: '1.0.0' });
  await client.connect(new StdioClientTransport(toolCommand));
  scope.defer(() => client.close());
  return { name: DIRECT, call: () => callDirectly(client, total) };
}

async function callDirectly(client: Client, total: number): Promise<Sample> {
  const latencies: number[] = [];
  const begun = performance.now();
  const cpu = process.cpuUsage();
  for (let call = 0; call < total; call += 1) {
    const sent = performance.now();
    await client.callTool({ name: 'echo', arguments: { message: 'hello' } });
    latencies.push(performance.now() - sent);
  }
  const { user, system } = process.cpuUsage(cpu);
  return {
    'calls/s': (total / (performance.now() - begun)) * 1_000,
    'CPU µs/call': (user + system) / total,
    ...latencyColumns(latencies),
  };
}
