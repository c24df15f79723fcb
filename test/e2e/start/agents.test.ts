import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { findPackageRoot } from '../../../src/app/package-root.ts';
import { eventually } from '../../support/project/eventually.ts';
import { processEnd } from '../../support/service/process-life.ts';
import { freePort } from '../../support/service/running-service.ts';
import { type ListeningService, ServiceProcess } from '../../support/service/service-process.ts';
import { tempDirectory } from '../../support/service/temp-directory.ts';
import { connectClient } from '../../support/sockets/websocket-client.ts';
import { verifies } from '../requirements.ts';

const folderOfAgents = join(findPackageRoot(), 'agents');
const agentFile = (name: string): string => join(folderOfAgents, `${name}.yml`);
const names = readdirSync(folderOfAgents).map((file) => file.replace(/\.yml$/, ''));

/** Starts an agent of the package as it is, but for its port. */
async function startAgent(name: string, cwd: string, args: string[] = [], environment = {}) {
  return await ServiceProcess.listening(['--agent', agentFile(name), ...args], { cwd, environment });
}

/** Resolves when so many tool servers are connected. Asks the probe, which no limit counts. */
async function untilConnected(service: ListeningService, count: number): Promise<void> {
  const read = async () => Health.parse(await (await service.fetch('/healthz')).json());
  await eventually(read, ({ agent }) => agent.connectedServers === count);
}

const Health = z.object({ agent: z.object({ connectedServers: z.int() }) });

describe.concurrent('the agents of the package', () => {
  for (const name of names) {
    verifies('cli.agents-run', name, async () => {
      await using folder = await tempDirectory();
      const key = name === 'openai' ? { OPENAI_API_KEY: 'sk-made-up' } : {};
      await using service = await startAgent(name, folder.path, [], key);
      const health = await service.fetch('/api/health');
      expect(await health.json()).toMatchObject({ status: 'healthy', agent: { status: 'ready' } });
      const exported = await (await service.fetch('/api/config.yaml')).text();
      expect(exported).toContain('mcpServers:');
      expect(exported).not.toContain('sk-made-up');
      // Nobody answers to the orchestrator yet.
      await untilConnected(service, name === 'orchestrator' ? 0 : 1);
      service.process.kill('SIGTERM');
      expect(await service.process.ended).toMatchObject({ code: 0 });
    });
  }

  verifies(
    'cli.agents-run',
    'without --agent it is the default one, and what its comment says to try works',
    async () => {
      await using folder = await tempDirectory();
      await using service = await ServiceProcess.listening([], { cwd: folder.path });
      const response = await service.post('/api/message-sync', {
        message: 'use echo {"message": "hi there"}',
      });
      expect(await response.json()).toMatchObject({ response: expect.stringContaining('Echo: hi there') });
    },
  );

  verifies('cli.agents-run', 'openai without its key says which variable to set', async () => {
    await using folder = await tempDirectory();
    await using service = new ServiceProcess(['--agent', agentFile('openai'), '--web-port', '0'], {
      cwd: folder.path,
    });
    const { code, stdout, stderr } = await service.ended;
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/openai\.yml:\d+: llm\.apiKey: .*OPENAI_API_KEY/);
  });
});

describe.concurrent('one agent that calls another', () => {
  verifies('mcp.agents', async () => {
    await using folder = await tempDirectory();
    await using researcher = await startAgent('researcher', folder.path, ['--mode', 'mcp']);
    await using orchestrator = await startAgent('orchestrator', folder.path, [], {
      RESEARCHER_URL: `${researcher.url}/mcp`,
    });
    using socket = await connectClient(`ws://127.0.0.1:${orchestrator.port}/`);
    socket.say('ask what is the weather in Chicago?');
    const frames = await socket.settled();
    const call = frames.find(({ event }) => event === 'toolCall');
    expect(call?.data).toMatchObject({
      toolName: 'chat_with_agent',
      serverId: 'researcher',
      arguments: { message: 'what is the weather in Chicago?' },
    });
    const last = frames.at(-1);
    expect(last?.event).toBe('response');
    const reply = JSON.stringify(last?.data);
    // What the researcher's own tool said, through both agents.
    expect(reply).toMatch(/The researcher says: Looking up the weather in Chicago.*temperature/);
    const sync = await orchestrator.post('/api/message-sync', { message: 'research state machines' });
    expect(await sync.json()).toMatchObject({ response: expect.stringContaining('nothing: I am a script') });
  });

  verifies(
    'mcp.agents',
    'one that was killed is shown as gone, and is found again when it is back',
    async () => {
      await using folder = await tempDirectory();
      // Not 0: Linux gives a port that was picked by itself only back when its connections are long over.
      const args = ['--mode', 'mcp', '--web-port', String(await freePort())];
      await using first = await startAgent('researcher', folder.path, args);
      await using orchestrator = await startAgent('orchestrator', folder.path, [], {
        RESEARCHER_URL: `${first.url}/mcp`,
      });
      await untilConnected(orchestrator, 1);
      first.process.kill('SIGKILL');
      await processEnd(first.process.pid);
      await untilConnected(orchestrator, 0);
      const list = await orchestrator.fetch('/api/mcp/servers');
      expect(await list.json()).toMatchObject({
        servers: [
          { name: 'researcher', status: expect.stringMatching(/^(error|connecting)$/), type: 'http' },
        ],
      });
      await using _second = await startAgent('researcher', folder.path, args);
      await untilConnected(orchestrator, 1);
      const sync = await orchestrator.post('/api/message-sync', {
        message: 'ask for the weather in New York',
      });
      expect(await sync.json()).toMatchObject({ response: expect.stringContaining('New York') });
    },
    // The heartbeat has to notice the silence, and there are pauses between the tries.
    90_000,
  );
});
