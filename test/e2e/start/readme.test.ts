import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { describe, expect } from 'vitest';
import {
  type DocumentedCommand,
  documentedAnswer,
  documentedCommands,
  documentedExamples,
} from '../../support/documents/documented-commands.ts';
import { projectRoot } from '../../support/project/source-imports.ts';
import { type ListeningService, ServiceProcess } from '../../support/service/service-process.ts';
import { tempDirectory } from '../../support/service/temp-directory.ts';
import { verifies } from '../requirements.ts';

const withoutTime = (answer: string): string => answer.replace(/"timestamp":"[^"]+"/, '"timestamp":"…"');

/** The command with the address of a service in place of the document's. */
function addressed({ command }: DocumentedCommand, { port }: ListeningService): string {
  expect(command).toContain('localhost:3001/');
  return command.replaceAll('localhost:3001/', `localhost:${port}/`);
}

/** Starts a command as the process itself, not as a child of the shell, so that ending it ends it. */
function start(command: string) {
  return spawn('/bin/sh', ['-c', `exec ${command}`], {
    env: { PATH: process.env.PATH },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

async function printed(command: string): Promise<string> {
  const child = start(command);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  expect({ command, code: child.exitCode, stderr }).toEqual({ command, code: 0, stderr: '' });
  return stdout;
}

async function answer(command: string): Promise<unknown> {
  return JSON.parse(await printed(command));
}

/** What it prints up to a text; then it is ended, because it would go on. */
async function printedUntil(command: string, wanted: string): Promise<string> {
  const child = start(command);
  child.stderr.resume();
  let output = '';
  for await (const piece of child.stdout.setEncoding('utf8')) {
    output += String(piece);
    if (output.includes(wanted)) child.kill();
  }
  return output;
}

describe('README and docs', () => {
  verifies('readme.start', async () => {
    await using directory = await tempDirectory();
    await using service = await ServiceProcess.listening(['--data-dir', directory.path]);
    const shown = documentedCommands('npm start').find(({ printed }) => printed !== '')?.printed;
    const { 0: output } = await service.process.stdout(/^.* is up: .*?\n/s);
    const asShown = output.replaceAll(`:${service.port}`, ':3001').replace(directory.path, '.agent-service');
    expect(asShown.trimEnd()).toBe(shown);
  });

  verifies('docs.curl', async () => {
    await using service = await ServiceProcess.listening(['--data-dir', ':memory:']);
    await service.process.stdout(/everything is up/);
    const commands = documentedCommands('curl ');
    const [
      message = '',
      connect = '',
      tools = '',
      execute = '',
      disconnect = '',
      events = '',
      view = '',
      fork = '',
    ] = commands.map((command) => addressed(command, service));
    expect(commands).toHaveLength(8);

    expect(withoutTime(await printed(message))).toBe(withoutTime(commands[0]?.printed ?? ''));
    expect(await answer(connect)).toEqual(documentedAnswer('POST /api/connect-server'));
    const offered = await answer(tools);
    expect(offered).toEqual(documentedAnswer('GET /api/mcp/servers/{id}/tools'));
    expect(offered).toHaveProperty(
      'tools',
      expect.arrayContaining([expect.objectContaining({ name: 'list_directory' })]),
    );
    const listed = await answer(execute);
    expect(listed).toEqual(documentedAnswer('POST /api/mcp/servers/{id}/tools/{name}/execute'));
    expect(listed).toMatchObject({ success: true, data: { content: [{ type: 'text' }] } });
    expect(await answer(disconnect)).toEqual(documentedAnswer('DELETE /api/mcp/servers/{id}'));

    const stream = await printedUntil(events, '"event":"response"');
    expect(stream).toContain('data: {"event":"resumed","data":{"after":0,');
    const seqs = [...stream.matchAll(/^id: (\d+)$/gm)].map(([, seq]) => Number(seq));
    expect(seqs).toEqual(seqs.map((_, at) => at + 1));
    expect(seqs.length).toBeGreaterThan(4);

    const viewed = await answer(view);
    expect(viewed).toEqual(documentedAnswer('GET /api/sessions/{id}?at=SEQ'));
    expect(viewed).toMatchObject({ session: { sessionId: 'default', at: 3 } });
    const forked = await answer(fork);
    expect(forked).toEqual(documentedAnswer('POST /api/sessions/{id}/fork'));
    expect(forked).toMatchObject({ sessionId: 'other', from: 'default', at: 4 });
  });

  verifies('docs.examples', async () => {
    await using directory = await tempDirectory();
    await using service = await ServiceProcess.listening(['--data-dir', ':memory:']);
    const client = pathToFileURL(join(projectRoot, 'src/client/session-client.ts')).href;
    const printedBy = async (code: string, name: string, wanted: string): Promise<string> => {
      const file = join(directory.path, name);
      await writeFile(
        file,
        code
          .replace(':3001', `:${service.port}`)
          .replace("'agent-service/client'", `'${client}'`)
          .replace("'openai'", `'${import.meta.resolve('openai')}'`),
      );
      return printedUntil(`${process.execPath} ${file}`, wanted);
    };
    const [socket = '', ask = '', iterate = '', openai = '', ...more] = documentedExamples();
    expect(more).toEqual([]);
    expect(await printedBy(socket, 'socket.mjs', "event: 'response'")).toMatch(
      /event: 'thinking'.*event: 'chunk'.*event: 'response'/s,
    );
    expect(await printedBy(ask, 'ask.mts', '!\n')).toMatch(/^Hello\b/);
    expect(await printedBy(iterate, 'iterate.mjs', "event: 'response'")).toMatch(
      /event: 'message'.*event: 'response'/s,
    );
    expect(await printedBy(openai, 'openai.mjs', 'total_tokens')).toContain('I have these tools');
  });
});
