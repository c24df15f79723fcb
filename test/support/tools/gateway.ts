import { join } from 'node:path';
import { Client, type ClientOptions, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { projectRoot } from '../project/source-imports.ts';
import { RunningService, type ServiceOptions } from '../service/running-service.ts';
import { serverWith } from './tool-server-client.ts';

const FIXTURE = join(projectRoot, 'test/support/tools/mcp/conformance-server/main.ts');

/** The tool server of the conformance suite, in the newer era or in that of 2025-11-25 alone. */
export function fixtureServer(era: ServerEra) {
  const args = era === 'sessions' ? [FIXTURE, '--sessions'] : [FIXTURE];
  return { type: 'stdio', command: process.execPath, args };
}

export type ServerEra = 'sessions' | 'stateless';

/** A service through which everything of its tool servers passes. Resolves when they are connected. */
export async function startGateway(
  servers: Readonly<Record<string, object>>,
  { more = '', ...options }: ServiceOptions & { readonly more?: string } = {},
): Promise<RunningService> {
  const service = await RunningService.start({
    ...options,
    yaml: `
llm: {provider: scripted, model: offline}
mcp: {expose: [agent, tools, resources, prompts]}
limits: {requestsPerMinute: false, connectionsPerAddress: false}
mcpServers: ${JSON.stringify(servers)}
${more}`,
  });
  for (const name of Object.keys(servers)) await serverWith(service, name, 'connected');
  return service;
}

/** Which of the SDK's clients: up to 2025-11-25, or 2026-07-28. */
export type ClientEra = 'legacy' | 'modern';

export async function gatewayClient(
  url: string,
  era: ClientEra,
  { headers, ...options }: ClientOptions & { readonly headers?: Record<string, string> } = {},
): Promise<Client & AsyncDisposable> {
  const mode = era === 'modern' ? { pin: '2026-07-28' } : ('legacy' as const);
  const client = new Client({ name: 'test', version: '1' }, { ...options, versionNegotiation: { mode } });
  const init = headers ? { requestInit: { headers } } : {};
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), init));
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() });
}
