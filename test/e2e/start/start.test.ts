import { describe, expect } from 'vitest';
import { agentFolder } from '../../support/service/agent-folder.ts';
import { SCRIPTED } from '../../support/service/running-service.ts';
import { ServiceProcess } from '../../support/service/service-process.ts';
import { scriptableServer } from '../../support/tools/mcp/tool-servers.ts';
import { verifies } from '../requirements.ts';

const args = ['--agent', 'agent.yml', '--data-dir', ':memory:'];

const agentWith = (mcpServers: object) =>
  agentFolder(`${SCRIPTED}mcpServers: ${JSON.stringify(mcpServers)}\n`);

/** Takes its input and never answers. */
const silentServer = { type: 'stdio', command: 'sleep', args: ['60'] };

describe.concurrent('the start', () => {
  verifies('cli.tool-servers', async () => {
    const broken = { type: 'stdio', command: 'no-such-command' };
    await using folder = await agentWith({ good: scriptableServer(), broken, silent: silentServer });
    await using service = await ServiceProcess.listening(args, { cwd: folder.path });
    await service.process.stdout(/^ {2}tools {6}good is up: \d+ tools$/m);
    await service.process.stdout(/^ {2}tools {6}broken failed: .*no-such-command.*; retrying$/m);
    await service.process.stdout(/^ {2}tools {6}silent is starting …$/m);
    service.process.kill('SIGTERM');
    const { code, stdout } = await service.process.ended;
    expect(code).toBe(0);
    expect(stdout.split('\n').filter((line) => line.startsWith('  data'))).toEqual([
      '  data       in memory only, gone when the service stops',
    ]);
    expect(stdout).not.toMatch(/silent (is up|failed)/);
  });

  verifies('cli.tool-servers', 'also when nobody reads on', async () => {
    await using folder = await agentWith({ good: scriptableServer(), silent: silentServer });
    await using service = await ServiceProcess.listening([...args, '--log-level', 'debug'], {
      cwd: folder.path,
    });
    service.process.closeStdout();
    await service.process.stderr(/standard output was closed/);
    expect((await service.fetch('/healthz')).status).toBe(200);
  });
});
