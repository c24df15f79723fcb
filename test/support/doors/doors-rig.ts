import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { KilledService } from '../crash/killed-service.ts';
import { agentFolder } from '../service/agent-folder.ts';
import { ServiceProcess } from '../service/service-process.ts';
import { GatedTools } from '../tools/mcp/gated-tools.ts';
import { streamableServer } from '../tools/mcp/http-servers.ts';
import { DOORS, type Door, FiveDoors, type Keys } from './five-doors.ts';
import { HeldModel } from './held-model.ts';

/** A test asks often. */
const SERVICE = `auth:
  apiKeys: true
  limits: { principal: { requestsPerMinute: false }, tenant: { requestsPerMinute: false } }
`;

/** A process with five clients. Its model and its tool `pay`, which needs approval, are in this process and outlive it. */
export interface DoorsRig extends AsyncDisposable {
  readonly service: KilledService;
  readonly model: HeldModel;
  readonly tools: GatedTools;
  readonly doors: FiveDoors;
}

export async function startDoors(): Promise<DoorsRig> {
  const model = await HeldModel.listen();
  const tools = new GatedTools({ pay: { readOnly: false } });
  const bank = await streamableServer({ tools: tools.server });
  const folder = await agentFolder(
    JSON.stringify({
      llm: { provider: 'openai-compatible', model: 'm', baseURL: model.baseURL },
      mcpServers: { bank: { type: 'http', baseUrl: bank.url } },
      approval: { rules: [{ tool: 'pay', policy: 'ask' }] },
      limits: { requestsPerMinute: false },
    }),
  );
  await writeFile(join(folder.path, 'service.yml'), SERVICE);
  const admin = await createFirstKey(folder.path);
  const service = await KilledService.create(folder.path, [], { args: ['--config', 'service.yml'] });
  await service.start();
  const doors = new FiveDoors(service, await createKeys(service, admin));
  const dispose = async (): Promise<void> => {
    doors[Symbol.dispose]();
    for (const opened of [service, bank, model, folder]) await opened[Symbol.asyncDispose]();
  };
  return { service, model, tools, doors, [Symbol.asyncDispose]: dispose };
}

async function createFirstKey(folder: string): Promise<string> {
  const create = ['keys', 'create', '--name', 'root', '--role', 'admin', '--data-dir', 'data'];
  await using command = new ServiceProcess(create, { cwd: folder });
  return (await command.ended).stdout.trim();
}

const Created = z.object({ key: z.string() });

async function createKeys(service: KilledService, admin: string): Promise<Keys> {
  const create = async (name: Door): Promise<[Door, string]> => {
    const answer = await service.fetch('/api/keys', {
      method: 'POST',
      headers: { Authorization: `Bearer ${admin}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ name, roles: ['user'] }),
    });
    return [name, Created.parse(await answer.json()).key];
  };
  return Object.fromEntries(await Promise.all(DOORS.map(create))) as Keys;
}
