import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
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
    // On a slow machine it also says that the tool server is still starting.
    const asShown = output
      .replaceAll(`:${service.port}`, ':3001')
      .replace(directory.path, '.agent-service')
      .replace(/^ *tools .* is starting …\n/m, '');
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
    await service.process.stdout(/everything is up/);
    const examples = documentedExamples().filter(({ code }) => !isRunElsewhere(code));
    expect(examples.map(({ code }) => saysOf(code))).not.toContain(undefined);
    for (const { file, code } of examples) {
      const path = join(directory.path, `${randomUUID()}.mts`);
      await writeFile(path, runnable(file, code).replaceAll(':3001', `:${service.port}`));
      const [ending = '', says] = saysOf(code) ?? [];
      expect(await printedUntil(`${process.execPath} ${path}`, ending), code).toMatch(says ?? /^$/);
    }
  });
});

/** By a text of the example: what it prints at its end, and all that it prints. */
const SAYS: Readonly<Record<string, readonly [string, RegExp]>> = {
  'new WebSocket(': ["event: 'response'", /event: 'thinking'.*event: 'chunk'.*event: 'response'/s],
  'session.ask(': ['!\n', /^Hello\b/],
  'for await (const event of session)': ["event: 'response'", /event: 'message'.*event: 'response'/s],
  'chat.completions.stream(': ['total_tokens', /I have these tools/],
  'client.conversations.create(': ['msg_', /^message msg_/],
  'new ResponsesWS(': ['get-sum', /^I have these tools/],
  'client.sendMessageStream(': ['get-sum', /^I have these tools/],
  'new HttpAgent(': ["role: 'assistant'", /I have these tools/],
  "name: 'chat_with_agent'": ['\n', /^You said: Who am I\?/],
};

function saysOf(code: string): readonly [string, RegExp] | undefined {
  return Object.entries(SAYS).find(([text]) => code.includes(text))?.[1];
}

/** Steps of a longer flow, which the tests of AG-UI take as a whole, and the check that the test of push notifications uses. */
function isRunElsewhere(code: string): boolean {
  return ['buildResumeArray', "role: 'tool'", 'isGenuine'].some((text) => code.includes(text));
}

/** The example with what the page has shown before it, and with packages that are found from any folder. */
function runnable(file: string, code: string): string {
  const isOpenAi = file === 'docs/openai.md' && !code.includes('new OpenAI(');
  const first = documentedExamples().find((example) => example.code.includes('new OpenAI('))?.code ?? '';
  const before = isOpenAi ? first.slice(0, first.indexOf('const stream')) : '';
  return (before + code).replaceAll(
    /from '([^']+)'/g,
    (_, name: string) =>
      `from '${name === 'agent-service/client' ? sourceOfTheClient : import.meta.resolve(name)}'`,
  );
}

const sourceOfTheClient = pathToFileURL(join(projectRoot, 'src/client/session-client.ts')).href;
