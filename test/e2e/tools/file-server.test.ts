import { mkdir, readdir, readFile, realpath, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import type { ServerFrame } from '../../../src/wire/frames.ts';
import { readDocument } from '../../support/documents/documents.ts';
import { errorOf } from '../../support/service/error-envelope.ts';
import { RunningService, SCRIPTED } from '../../support/service/running-service.ts';
import { tempDirectory } from '../../support/service/temp-directory.ts';
import { execute, listServers, serverWith, toolText } from '../../support/tools/tool-server-client.ts';
import { verifies } from '../requirements.ts';

const ToolList = z.looseObject({ tools: z.array(z.looseObject({ name: z.string() })) });
const AGENT_FILE = 'docs/agent-file.md';
const GUIDE = 'docs/guide.md';

/** A part of a document, with the folder that the server may use in place of the document's. */
function documented(file: string, pattern: RegExp, allowed: string): string {
  const found = pattern.exec(readDocument(file))?.[1];
  if (found === undefined) throw new Error(`${file} has nothing like ${pattern}`);
  return found.replace('/tmp', allowed);
}

/** The lines of the example in docs/agent-file.md. */
const agentFile = (allowed: string): string => `${SCRIPTED}
limits: { requestsPerMinute: false }
mcpServers:
${documented(AGENT_FILE, /^( {2}files: \{.*server-filesystem.*\})$/m, allowed)}
approval:
  rules:
${documented(AGENT_FILE, /^( {4}- \{server: files, .*\})$/m, allowed)}
${documented(AGENT_FILE, /^( {2}default: ask)$/m, allowed)}
`;

/** A folder that the server may use, with a file in it, and one beside it that it may not. */
async function folders() {
  const root = await tempDirectory();
  const path = await realpath(root.path);
  const [allowed, secret] = [join(path, 'allowed'), join(path, 'secret')];
  for (const folder of [allowed, secret]) await mkdir(folder);
  await writeFile(join(allowed, 'note.txt'), 'buy milk');
  await writeFile(join(secret, 'key.txt'), 'hunter2');
  await symlink(secret, join(allowed, 'way-out'));
  return { allowed, secret, [Symbol.asyncDispose]: () => root[Symbol.asyncDispose]() };
}

async function start(allowed: string): Promise<RunningService> {
  const service = await RunningService.start({ yaml: agentFile(allowed) });
  await serverWith(service, 'files', 'connected');
  return service;
}

describe('the file server that docs show', () => {
  verifies('servers.files', async () => {
    await using places = await folders();
    const { allowed } = places;
    await using service = await start(allowed);
    const listed = await (await service.fetch('/api/mcp/servers/files/tools')).json();
    expect(ToolList.parse(listed).tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['list_directory', 'read_text_file', 'write_file', 'move_file']),
    );
    expect(await toolText(service, 'files', 'list_directory', { path: allowed })).toContain(
      '[FILE] note.txt',
    );
    const note = join(allowed, 'note.txt');
    expect(await toolText(service, 'files', 'read_text_file', { path: note })).toBe('buy milk');
    const written = join(allowed, 'new.txt');
    expect((await execute(service, 'files', 'write_file', { path: written, content: 'ünï' })).status).toBe(
      200,
    );
    expect(await readFile(written, 'utf8')).toBe('ünï');
  });

  verifies('servers.files', 'what is outside of its folder it neither tells nor touches', async () => {
    await using places = await folders();
    const { allowed, secret } = places;
    await using service = await start(allowed);
    const ways = [secret, join(allowed, '..', 'secret'), join(allowed, 'way-out')];
    for (const way of ways) {
      for (const [tool, args] of [
        ['list_directory', { path: way }],
        ['read_text_file', { path: join(way, 'key.txt') }],
        ['write_file', { path: join(way, 'new.txt'), content: 'x' }],
        ['move_file', { source: join(allowed, 'note.txt'), destination: join(way, 'note.txt') }],
      ] as const) {
        const error = await errorOf(await execute(service, 'files', tool, args), 500);
        expect(error).toMatchObject({
          code: 'TOOL_EXECUTION_FAILED',
          details: { toolName: tool, serverId: 'files', reason: expect.stringMatching(/access denied/i) },
        });
        expect(JSON.stringify(error)).not.toContain('hunter2');
      }
    }
    expect(await readdir(secret)).toEqual(['key.txt']);
    expect(await readdir(allowed)).toEqual(['note.txt', 'way-out']);
  });

  verifies('servers.files', 'the model reads by itself, and asks before it writes', async () => {
    await using places = await folders();
    const { allowed } = places;
    await using service = await start(allowed);
    using client = await service.connect();
    const use = (tool: string, args: object) => client.say(`use ${tool} ${JSON.stringify(args)}`);
    use('read_text_file', { path: join(allowed, 'note.txt') });
    expect((await client.settled()).at(-1)).toMatchObject({
      event: 'response',
      data: { content: expect.stringContaining('buy milk') },
    });
    const before = client.frames.length;
    use('write_file', { path: join(allowed, 'new.txt'), content: 'by the model' });
    const stops = ['toolApproval', 'response', 'error'];
    const isStopped = (frames: readonly ServerFrame[]) => stops.includes(frames.at(-1)?.event ?? '');
    const question = (await client.until((all) => isStopped(all.slice(before)))).at(-1);
    expect(question).toMatchObject({ event: 'toolApproval', data: { toolName: 'write_file' } });
    expect(await readdir(allowed)).not.toContain('new.txt');
    client.send({ type: 'approve', callId: Object(question?.data).callId });
    await client.settled(2);
    expect(await readFile(join(allowed, 'new.txt'), 'utf8')).toBe('by the model');
  });

  verifies('servers.files', 'connected at run time', async () => {
    await using places = await folders();
    const { allowed } = places;
    await using service = await RunningService.start();
    const body = JSON.parse(documented(GUIDE, /connect-server .* -d '(\{[^']*\})'/, allowed));
    expect((await service.post('/api/connect-server', body)).status).toBe(200);
    expect(await toolText(service, 'files', 'list_directory', { path: allowed })).toContain('note.txt');
    expect((await service.fetch('/api/mcp/servers/files', { method: 'DELETE' })).status).toBe(200);
    expect(await listServers(service)).toMatchObject([{ name: 'files', status: 'disconnected' }]);
  });
});
