import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { DirectedModel } from '../../support/models/directed-model.ts';
import { agentFolder } from '../../support/service/agent-folder.ts';
import { RunningService, SCRIPTED } from '../../support/service/running-service.ts';
import { type Ending, ServiceProcess } from '../../support/service/service-process.ts';
import { viewOf } from '../../support/sessions/session-api.ts';
import { DirectedTools } from '../../support/tools/directed-tools.ts';
import { scriptableServer } from '../../support/tools/mcp/tool-servers.ts';
import { verifies } from '../requirements.ts';

const guard = new URL('../../support/project/no-outbound-calls.ts', import.meta.url).href;

/** Runs `replay` in a folder with these arguments; `offline` ends it at the first outbound call. */
async function replay(folder: string, args: readonly string[], offline = false): Promise<Ending> {
  const environment: Record<string, string> = offline ? { NODE_OPTIONS: `--import ${guard}` } : {};
  await using command = new ServiceProcess(['replay', ...args, '--data-dir', 'log'], {
    cwd: folder,
    environment,
  });
  return await command.ended;
}

const Report = z.object({
  sessionId: z.string(),
  same: z.boolean(),
  events: z.int(),
  turns: z.array(z.object({ outcome: z.string(), steps: z.int(), toolCalls: z.int() })),
  difference: z
    .object({ seq: z.int(), turn: z.int(), step: z.int(), recorded: z.unknown(), replayed: z.unknown() })
    .nullable(),
  stateHash: z.object({ recorded: z.string(), replayed: z.string() }).nullable(),
});

/** A session with an answered turn, one with parallel tools, a cancelled one and one that is still open. */
async function recordSession(dataDir: string): Promise<void> {
  const model = new DirectedModel();
  const connector = new DirectedTools({ look: { repeatable: true }, pay: {} });
  const yaml = `${SCRIPTED}server: { drainTimeoutMs: 0 }\nmcpServers: { tools: { type: stdio, command: none } }\n`;
  await using service = await RunningService.start({ yaml, dataDir, adapters: { model, connector } });
  const say = (message: string) => service.post('/api/message-sync', { sessionId: 's', message });
  const first = say('hello');
  (await model.call(0)).answer('Hello ', 'there.');
  expect((await first).status).toBe(200);
  const second = say('work');
  (await model.call(1)).askFor({ name: 'look' }, { name: 'pay' });
  (await connector.call(1)).settle({ status: 'failed', reason: 'no money' });
  (await connector.call(0)).answer('seen');
  (await model.call(2)).answer('Done.');
  expect((await second).status).toBe(200);
  const third = say('tell me a story');
  (await model.call(3)).say('Once upon ');
  await service.post('/api/sessions/s/cancel');
  expect((await third).status).toBe(409);
  void say('more').catch(() => undefined);
  await model.call(4);
  expect((await viewOf(service, 's')).turns).toMatchObject({ completed: 2, cancelled: 1 });
}

describe.concurrent('replay', () => {
  verifies('replay.same', async () => {
    await using folder = await agentFolder(SCRIPTED);
    await recordSession(join(folder.path, 'log'));
    const { code, stdout, stderr } = await replay(folder.path, ['s'], true);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const hash = /^state recorded {2}([0-9a-f]{64})$/m.exec(stdout)?.[1];
    expect(stdout.split('\n')).toEqual([
      'turn 1  completed, 1 step, 0 tool calls  same',
      'turn 2  completed, 2 steps, 2 tool calls  same',
      'turn 3  cancelled, 0 steps, 0 tool calls  same',
      'turn 4  unfinished, 0 steps, 0 tool calls  same',
      expect.stringMatching(/^\d+ events, all as recorded$/),
      `state recorded  ${hash}`,
      `state replayed  ${hash}`,
      '',
    ]);
    await using exporting = new ServiceProcess(['export', 's', '--data-dir', 'log'], { cwd: folder.path });
    await writeFile(join(folder.path, 's.jsonl'), (await exporting.ended).stdout);
    expect(await replay(folder.path, ['--file', 's.jsonl'], true)).toMatchObject({
      code: 0,
      stdout,
      stderr: '',
    });
    const json = await replay(folder.path, ['s', '--json'], true);
    expect(json.code).toBe(0);
    expect(Report.parse(JSON.parse(json.stdout))).toMatchObject({
      sessionId: 's',
      same: true,
      difference: null,
      stateHash: { recorded: hash, replayed: hash },
    });
  });

  verifies('replay.live', async () => {
    const agent = { llm: { provider: 'scripted', model: 'offline', script: script('I look.') }, ...servers };
    await using folder = await agentFolder(JSON.stringify(agent));
    await using service = await ServiceProcess.listening(['--agent', 'agent.yml', '--data-dir', 'log'], {
      cwd: folder.path,
    });
    for (const message of ['thanks', 'who']) {
      expect((await service.post('/api/message-sync', { message })).status).toBe(200);
    }
    service.process.kill('SIGTERM');
    await service.process.ended;

    // The tool would say another process id, had it been called again.
    const live = ['default', '--live', '--agent', 'agent.yml'];
    expect(await replay(folder.path, live)).toMatchObject({ code: 0, stderr: '' });
    // Its tool server is a process, which shows that the guard of the other test sees one.
    expect(await replay(folder.path, live, true)).toMatchObject({ code: 70 });

    const changed = { ...agent, llm: { ...agent.llm, script: script('I see.') } };
    await using other = await agentFolder(JSON.stringify(changed));
    const file = join(other.path, 'agent.yml');
    const { code, stdout } = await replay(folder.path, ['default', '--live', '--agent', file]);
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /^turn 1 .* same\nturn 2 .* different\ndifferent at seq 7 \(turn 2, step 1, [\w-]+\)\n {2}recorded {2}(.*)\n {2}replayed {2}(.*)\n$/,
    );
    const both = [...stdout.matchAll(/^ {2}\w+ {2}(step\.completed .*)$/gm)].map(([, shown]) => shown);
    expect(both).toEqual(
      ['I look.', 'I see.'].map((said) =>
        expect.stringMatching(
          `^step\\.completed parts \\[\\{"text":"${said}","type":"text"\\},\\{"callId":"[^"]+","type":"toolCall"\\}\\]$`,
        ),
      ),
    );
    const json = await replay(folder.path, ['default', '--live', '--agent', file, '--json']);
    expect(json.code).toBe(1);
    expect(Report.parse(JSON.parse(json.stdout))).toMatchObject({
      same: false,
      difference: {
        seq: 7,
        turn: 2,
        step: 1,
        recorded: { parts: stepOf('I look.') },
        replayed: { parts: stepOf('I see.') },
      },
      stateHash: null,
    });
  });

  verifies('replay.refused', async () => {
    const tools = { type: 'stdio', command: 'no-such-command-here' };
    const missing = { llm: { provider: 'scripted', model: 'offline' }, mcpServers: { tools } };
    await using folder = await agentFolder(JSON.stringify(missing));
    const refusals: [string[], RegExp][] = [
      [['s'], /^agent-service: there is no folder \S+log; choose .* with --data-dir\n$/],
      [['a b'], /^agent-service: session: found "a b"; expected 1 to 128 characters.*\n$/],
      [
        ['--file', 'none.jsonl'],
        /^agent-service: none\.jsonl: there is no such file; expected the output of `.*\n$/,
      ],
      [['--file', '.'], /^agent-service: \.: this is a folder; expected the output of `.*\n$/],
      [['s', '--agent', 'agent.yml'], /^error: option '--agent' needs '--live'/],
      [['s', '--live', '--agent', 'none.yml'], /^agent-service: none\.yml: there is no such file/],
    ];
    for (const [args, message] of refusals) {
      const { code, stdout, stderr } = await replay(folder.path, args);
      expect({ args, code, stdout }).toEqual({ args, code: 1, stdout: '' });
      expect(stderr).toMatch(message);
      expect(stderr).not.toMatch(/\n {4}at /);
    }
    await recordSession(join(folder.path, 'log'));
    for (const [args, message] of [
      [['nobody'], /^agent-service: there is no session nobody.*\n$/],
      [
        ['s', '--live', '--agent', 'agent.yml'],
        /^agent-service: the tool server tools is not connected: .*\n$/,
      ],
    ] as const) {
      expect(await replay(folder.path, args)).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringMatching(message),
      });
    }
  });
});

const servers = { mcpServers: { tools: scriptableServer() } };

/** The parts of the step that answers `who`. */
const stepOf = (said: string) => [{ type: 'text', text: said }, { type: 'toolCall' }];

/** Answers `who` with what the tool `pid` says. */
function script(said: string): object[] {
  return [{ when: '^who', reply: said, toolCalls: [{ tool: 'pid' }], afterTools: 'It is {{results}}.' }];
}
