import { describe, expect } from 'vitest';
import { readPackageVersion } from '../../../src/app/package-root.ts';
import { agentFolder } from '../../support/service/agent-folder.ts';
import { childrenOf, processEnd } from '../../support/service/process-life.ts';
import { SCRIPTED } from '../../support/service/running-service.ts';
import { type ListeningService, ServiceProcess } from '../../support/service/service-process.ts';
import { verifies } from '../requirements.ts';

/** Makes this Node look like one that runs neither the sources nor a build: of another name, without node:sqlite. */
const pretence = `
  import module from 'node:module';
  const { isBuiltin } = module;
  module.isBuiltin = (name) => name !== 'node:sqlite' && isBuiltin(name);
  module.syncBuiltinESMExports();
  Object.defineProperty(process.versions, 'node', { value: '20.0.0' });
  Object.defineProperty(process, 'execPath', { value: '/usr/bin/env' });
`;
/** Node 20 has no `process.execve`. */
const withoutExecve = 'delete process.execve;';

const nodes = { 'can replace its process': pretence, 'cannot replace its process': pretence + withoutExecve };

function optionsOn(preload: string) {
  return {
    script: 'bin/agent-service.js',
    nodeFlags: ['--import', `data:text/javascript,${encodeURIComponent(preload)}`],
  };
}

/** Runs `use` with a service that the published command has started on such a Node. */
async function withService(
  preload: string,
  use: (service: ListeningService) => Promise<void>,
): Promise<void> {
  await using folder = await agentFolder(SCRIPTED);
  const args = ['--agent', 'agent.yml', '--data-dir', ':memory:'];
  await using service = await ServiceProcess.listening(args, { ...optionsOn(preload), cwd: folder.path });
  await use(service);
}

for (const [name, preload] of Object.entries(nodes))
  describe.concurrent(`the published command on another Node, which ${name}`, () => {
    verifies('cli.other-node', () =>
      withService(preload, async (service) => {
        const sync = await service.post('/api/message-sync', { message: 'thanks' });
        expect(await sync.json()).toMatchObject({ response: 'You are welcome!' });
        service.process.kill('SIGTERM');
        const { code, stderr } = await service.process.ended;
        expect(code).toBe(0);
        expect(stderr.match(/"signal":"SIGTERM"/g)).toHaveLength(1);
        expect(stderr).not.toContain('Warning');
      }),
    );

    verifies('cli.other-node', 'with its output and its exit code', async () => {
      const options = optionsOn(preload);
      await using version = new ServiceProcess(['--version'], options);
      expect(await version.ended).toMatchObject({
        code: 0,
        stdout: `${readPackageVersion()}\n`,
        stderr: '',
      });
      await using refused = new ServiceProcess(['--mode', 'no'], options);
      expect(await refused.ended).toMatchObject({ code: 1, stdout: '' });
    });

    verifies('cli.other-node', 'and SIGINT ends both', () =>
      withService(preload, async (service) => {
        service.process.kill('SIGINT');
        expect(await service.process.ended).toMatchObject({ code: 0 });
        await expect(fetch(`${service.url}/healthz`)).rejects.toThrow();
      }),
    );

    for (const signal of ['SIGKILL', 'SIGQUIT', 'SIGUSR2'] as const)
      verifies('cli.other-node-dies', signal, () =>
        withService(preload, async (service) => {
          const children = childrenOf(service.process.pid);
          service.process.kill(signal);
          await Promise.all(children.map(processEnd));
          expect(await service.process.ended).toMatchObject({ signal });
          await expect(fetch(`${service.url}/healthz`)).rejects.toThrow();
        }),
      );

    verifies('cli.other-node', 'over stdio, until its input ends', async () => {
      await using folder = await agentFolder(SCRIPTED);
      const args = [
        '--mode',
        'mcp',
        '--transport',
        'stdio',
        '--agent',
        'agent.yml',
        '--data-dir',
        ':memory:',
      ];
      await using service = new ServiceProcess(args, { ...optionsOn(preload), cwd: folder.path });
      service.stdin.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
      await service.stdout(/"id":1/);
      service.stdin.end();
      expect(await service.ended).toMatchObject({ code: 0 });
    });
  });

describe.concurrent('the process that the published command runs in', () => {
  verifies('cli.other-node', 'is replaced where that is possible', () =>
    withService(nodes['can replace its process'], async (service) =>
      expect(childrenOf(service.process.pid)).toEqual([]),
    ),
  );

  verifies('cli.other-node-dies', 'ends by the signal that ended the service', () =>
    withService(nodes['cannot replace its process'], async (service) => {
      const [child, ...others] = childrenOf(service.process.pid);
      if (child === undefined) throw new Error('the service runs in the process of the command');
      expect(others).toEqual([]);
      process.kill(child, 'SIGKILL');
      expect(await service.process.ended).toMatchObject({ code: null, signal: 'SIGKILL' });
    }),
  );
});
