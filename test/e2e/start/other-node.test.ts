import { describe, expect } from 'vitest';
import { readPackageVersion } from '../../../src/app/package-root.ts';
import { agentFolder } from '../../support/service/agent-folder.ts';
import { SCRIPTED } from '../../support/service/running-service.ts';
import { ServiceProcess } from '../../support/service/service-process.ts';
import { verifies } from '../requirements.ts';

/** Makes this Node look like one that cannot run the service: an executable of another name, without TypeScript. */
const pretence = `
  Object.defineProperty(process.versions, 'node', { value: '20.0.0' });
  Object.defineProperty(process.features, 'typescript', { value: false });
  Object.defineProperty(process, 'execPath', { value: '/usr/bin/env' });
`;
const otherNode = {
  script: 'bin/agent-service.js',
  nodeFlags: ['--import', `data:text/javascript,${encodeURIComponent(pretence)}`],
};

describe.concurrent('the published command on another Node', () => {
  verifies('cli.other-node', async () => {
    await using folder = await agentFolder(SCRIPTED);
    const args = ['--agent', 'agent.yml', '--data-dir', ':memory:'];
    await using service = await ServiceProcess.listening(args, { ...otherNode, cwd: folder.path });
    const sync = await service.post('/api/message-sync', { message: 'thanks' });
    expect(await sync.json()).toMatchObject({ response: 'You are welcome!' });
    service.process.kill('SIGTERM');
    const { code, stderr } = await service.process.ended;
    expect(code).toBe(0);
    expect(stderr.match(/"signal":"SIGTERM"/g)).toHaveLength(1);
  });

  verifies(
    'cli.other-node',
    async () => {
      await using version = new ServiceProcess(['--version'], otherNode);
      expect(await version.ended).toMatchObject({ code: 0, stdout: `${readPackageVersion()}\n`, stderr: '' });
      await using refused = new ServiceProcess(['--mode', 'no'], otherNode);
      expect(await refused.ended).toMatchObject({ code: 1, stdout: '' });
    },
    'with its output and its exit code',
  );

  verifies(
    'cli.other-node',
    async () => {
      await using folder = await agentFolder(SCRIPTED);
      const args = ['--agent', 'agent.yml', '--data-dir', ':memory:'];
      await using service = await ServiceProcess.listening(args, { ...otherNode, cwd: folder.path });
      service.process.kill('SIGINT');
      expect(await service.process.ended).toMatchObject({ code: 0 });
      await expect(fetch(`http://127.0.0.1:${service.port}/healthz`)).rejects.toThrow();
    },
    'and SIGINT ends both',
  );
});
