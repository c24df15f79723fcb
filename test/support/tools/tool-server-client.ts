import { z } from 'zod';
import { eventually } from '../project/eventually.ts';
import type { RunningService } from '../service/running-service.ts';

/** In this process or in one of its own. */
type Service = Pick<RunningService, 'fetch' | 'post'>;

/** A record in the list of servers: exactly the fields of the interface. */
const ServerRecord = z.strictObject({
  id: z.string(),
  name: z.string(),
  status: z.enum(['connected', 'connecting', 'error', 'disconnected']),
  type: z.enum(['stdio', 'http']),
  description: z.string().optional(),
  error: z.string().min(1).optional(),
  details: z.strictObject({ authorizationUrl: z.url() }).optional(),
});
type ServerRecord = z.infer<typeof ServerRecord>;

const ServerList = z.strictObject({ servers: z.array(ServerRecord), timestamp: z.string() });
const Executed = z.looseObject({
  data: z.looseObject({ content: z.array(z.looseObject({ text: z.string().optional() })) }),
});

export async function listServers(service: Service): Promise<ServerRecord[]> {
  const response = await service.fetch('/api/mcp/servers');
  return ServerList.parse(await response.json()).servers;
}

/** The server's record as soon as it has this status. */
export async function serverWith(
  service: Service,
  name: string,
  status: ServerRecord['status'],
): Promise<ServerRecord> {
  const find = async () => (await listServers(service)).find((server) => server.name === name);
  const record = await eventually(find, (server) => server?.status === status);
  if (record === undefined) throw new Error(`there is no server ${name}`);
  return record;
}

export function execute(
  service: Service,
  server: string,
  tool: string,
  args: unknown = {},
): Promise<Response> {
  const [serverId, toolName] = [server, tool].map(encodeURIComponent);
  return service.post(`/api/mcp/servers/${serverId}/tools/${toolName}/execute`, args);
}

/** The text a tool answers with. */
export async function toolText(
  service: Service,
  server: string,
  tool: string,
  args: unknown = {},
): Promise<string> {
  const response = await execute(service, server, tool, args);
  return Executed.parse(await response.json()).data.content[0]?.text ?? '';
}
