import { describe, expect } from 'vitest';
import { OpenAiUpstream, textReply } from '../../support/models/openai-upstream.ts';
import { agentFolder } from '../../support/service/agent-folder.ts';
import { freePort, RunningService, SCRIPTED } from '../../support/service/running-service.ts';
import { type Ending, ServiceProcess } from '../../support/service/service-process.ts';
import { scriptableServer } from '../../support/tools/mcp/tool-servers.ts';
import { verifies } from '../requirements.ts';

/** `agent-service chat` without a terminal, told these lines. */
async function chat(url: string, lines: string[], ...flags: string[]): Promise<Ending> {
  await using client = new ServiceProcess(['chat', '--url', url, ...flags]);
  client.stdin.end(lines.map((line) => `${line}\n`).join(''));
  return await client.ended;
}

const everything = { type: 'stdio', command: 'mcp-server-everything', args: ['stdio'] };

describe.concurrent('the terminal client', () => {
  verifies('chat.script', async () => {
    const yaml = `${SCRIPTED}mcpServers: ${JSON.stringify({ everything })}\n`;
    await using service = await RunningService.start({ yaml });
    expect(await chat(service.url, ['thanks', 'use echo {"message": "hi"}'])).toMatchObject({
      code: 0,
      stdout: 'You are welcome!\nI am calling `echo`.\n\necho answered:\nEcho: hi\n',
      stderr: '→ echo {"message":"hi"}\n← Echo: hi\n',
    });
  });

  verifies('chat.script', 'with exit code 1 when one has none', async () => {
    await using service = await RunningService.start({
      yaml: `${SCRIPTED.replace('}', ', script: [{when: now, fail: the power is out}]}')}`,
    });
    const failed = await chat(service.url, ['now', 'thanks']);
    expect(failed).toMatchObject({ code: 1, stdout: 'You are welcome!\n' });
    expect(failed.stderr).toMatch(/the power is out.*\(AGENT_ERROR\)\n/);
  });

  verifies('chat.session', async () => {
    await using upstream = await OpenAiUpstream.listen();
    const llm = { provider: 'openai-compatible', model: 'm', baseURL: upstream.baseURL };
    await using service = await RunningService.start({ yaml: JSON.stringify({ llm }) });
    upstream.replyWith(textReply('One.'), textReply('Two.'));
    expect((await chat(service.url, ['first'], '--session', 'mine')).stdout).toBe('One.\n');
    // Only what is new is shown; the model has it all.
    expect((await chat(service.url, ['second'], '--session', 'mine')).stdout).toBe('Two.\n');
    const { messages } = (await upstream.request(1)).body;
    expect(messages.map(({ content }) => content).slice(-3)).toEqual(['first', 'One.', 'second']);
  });

  verifies('chat.interrupt', async () => {
    await using upstream = await OpenAiUpstream.listen();
    upstream.otherwise = () => ({ stream: [{ text: 'Well ' }, { hang: true }] });
    const llm = { provider: 'openai-compatible', model: 'm', baseURL: upstream.baseURL };
    await using service = await RunningService.start({ yaml: JSON.stringify({ llm }) });
    await using client = new ServiceProcess(['chat', '--url', service.url]);
    client.stdin.write('one\n');
    await client.stdout(/Well $/);
    client.kill('SIGINT');
    await client.stderr(/cancelled\n/);
    const view = await service.fetch('/api/sessions/default');
    expect(await view.json()).toMatchObject({ session: { turns: { cancelled: 1 }, openTurnId: null } });

    client.stdin.write('two\n');
    await client.stdout(/Well \nWell $/);
    client.kill('SIGINT');
    await client.stderr(/again quits\n.*again quits\n/s);
    client.kill('SIGINT');
    expect(await client.ended).toMatchObject({ code: 130, signal: null });
  });

  verifies('chat.approval', async () => {
    const yaml = `${SCRIPTED}mcpServers: ${JSON.stringify({ tools: scriptableServer() })}\napproval: { default: ask }\n`;
    await using service = await RunningService.start({ yaml });
    const denied = await chat(service.url, ['use pid {}', 'y', 'thanks']);
    expect(denied.code).toBe(0);
    expect(denied.stderr).toMatch(/^→ pid \{\}\nneeds approval: pid \{\}\n← pid failed: .+\n$/);
    expect(denied.stdout).toMatch(/You are welcome!\n$/);
    const view = await service.fetch('/api/sessions/default');
    expect(await view.json()).toMatchObject({ session: { turns: { completed: 3 } } });
  });

  verifies('chat.refused', async () => {
    const port = await freePort();
    const nobody = await chat(`http://127.0.0.1:${port}`, ['hi']);
    expect(nobody).toMatchObject({
      code: 1,
      stdout: '',
      stderr:
        `agent-service: no service answers at http://127.0.0.1:${port} (connect ECONNREFUSED 127.0.0.1:${port}); start one with \`agent-service\` ` +
        '(in a checkout `npm start`), or say where it is with --url\n',
    });
    await using folder = await agentFolder(SCRIPTED);
    const args = ['--mode', 'mcp', '--agent', 'agent.yml', '--data-dir', ':memory:'];
    await using mcp = await ServiceProcess.listening(args, { cwd: folder.path });
    const { code, stderr } = await chat(mcp.url, ['hi']);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^agent-service: the service at \S+ has no chat: .* Is it in web mode\?\n$/);
  });

  verifies('chat.refused', 'and a flag that it cannot have is named', async () => {
    await using typo = new ServiceProcess(['chat', '--session', 'a b', '--url', 'x']);
    const { code, stderr } = await typo.ended;
    expect(code).toBe(1);
    expect(stderr).toMatch(/--session <id>.*'a b' is invalid.*|--url <url>.*'x' is invalid/);
  });
});
