/*
 * An MCP server over stdio with a tool that must not run twice for the same call. It does without the SDK, so
 * that it starts in no time.
 *
 *   paying-server.ts FOLDER
 *
 * `pay` (`id`, `ms`) waits for so long, writes the id to FOLDER/paid, waits as long again and answers. `look`
 * is read-only. Its process id is in FOLDER/pids.
 */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';

const Call = z.object({ name: z.string(), arguments: z.object({ id: z.string(), ms: z.number() }) });
const Message = z.object({
  id: z.number().optional(),
  method: z.string().optional(),
  params: z.unknown().optional(),
});
type Message = z.infer<typeof Message>;

const [folder = ''] = process.argv.slice(2);
const inputSchema = {
  type: 'object',
  properties: { id: { type: 'string' }, ms: { type: 'number' } },
  required: ['id', 'ms'],
};

async function call({ name, arguments: { id, ms } }: z.infer<typeof Call>): Promise<object> {
  await delay(ms);
  if (name === 'pay') {
    appendFileSync(join(folder, 'paid'), `${id}\n`);
    await delay(ms);
  }
  return { content: [{ type: 'text', text: `${name} ${id}` }] };
}

async function answer({ method, params }: Message): Promise<object> {
  switch (method) {
    case 'initialize':
      return {
        protocolVersion: '2025-06-18',
        capabilities: { tools: {} },
        serverInfo: { name: 'paying', version: '1' },
      };
    case 'tools/list':
      return {
        tools: [
          { name: 'pay', inputSchema },
          { name: 'look', inputSchema, annotations: { readOnlyHint: true } },
        ],
      };
    case 'tools/call':
      return call(Call.parse(params));
    default:
      return {};
  }
}

async function receive(line: string): Promise<void> {
  const message = Message.parse(JSON.parse(line));
  if (message.id === undefined) return;
  const result = await answer(message);
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: message.id, result })}\n`);
}

appendFileSync(join(folder, 'pids'), `${process.pid}\n`);
createInterface({ input: process.stdin }).on('line', (line) => void receive(line));
// A payment under way is not waited for, as in a process that is ended.
process.stdin.once('end', () => process.exit(0));
