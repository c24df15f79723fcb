import { mkdir, readFile, rename, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'vitest';
import { agentFolder } from '../../support/service/agent-folder.ts';
import { SCRIPTED } from '../../support/service/running-service.ts';
import { ServiceProcess } from '../../support/service/service-process.ts';
import { verifies } from '../requirements.ts';

function changingAllTheTime(file: string): AsyncDisposable {
  let isOver = false;
  const changing = (async () => {
    for (let line = 0; !isOver; line += 1) {
      await writeFile(file, `line ${line}`);
      await setTimeout(20);
    }
  })();
  return {
    [Symbol.asyncDispose]: () => {
      isOver = true;
      return changing;
    },
  };
}

verifies('cli.agent-changed', async () => {
  await using folder = await agentFolder(SCRIPTED);
  const args = ['--agent', 'agent.yml', '--data-dir', ':memory:', '--log-level', 'debug'];
  await using service = await ServiceProcess.listening(args, { cwd: folder.path });
  const file = join(folder.path, 'agent.yml');
  const changed = (await readFile(file, 'utf8')).replace('scripted', 'openai');
  await service.process.stderr(/"the agent file is watched"/);

  await utimes(file, new Date(), new Date());
  await writeFile(join(folder.path, 'other.yml'), 'else');
  await service.process.stderr(/"the agent file is as it was"/);
  // As editors do it, while another file changes faster than an editor is waited for.
  await using _ = changingAllTheTime(join(folder.path, 'service.log'));
  await writeFile(`${file}.tmp`, changed);
  await rename(`${file}.tmp`, file);
  await service.process.stderr(
    /"agentFile":"agent.yml","msg":"the agent file has changed; POST \/api\/agents\/default\/reload/,
  );

  const answer = await service.post('/api/message-sync', { message: 'thanks' });
  expect(await answer.json()).toMatchObject({ response: 'You are welcome!' });
  service.process.kill('SIGTERM');
  expect((await service.process.ended).stderr.match(/has changed/g)).toHaveLength(1);
});

verifies('cli.agent-changed', 'also one that Kubernetes mounts', async () => {
  await using folder = await agentFolder(SCRIPTED);
  const { path } = folder;
  const text = await readFile(join(path, 'agent.yml'), 'utf8');
  const mounted = join(path, 'mounted');
  for (const [version, content] of [
    ['..v1', text],
    ['..v2', text.replace('scripted', 'openai')],
  ] as const) {
    await mkdir(join(mounted, version), { recursive: true });
    await writeFile(join(mounted, version, 'agent.yml'), content);
  }
  await symlink('..v1', join(mounted, '..data'));
  await symlink('..data/agent.yml', join(mounted, 'agent.yml'));
  const args = ['--agent', 'mounted/agent.yml', '--data-dir', ':memory:', '--log-level', 'debug'];
  await using service = await ServiceProcess.listening(args, { cwd: path });
  await service.process.stderr(/"the agent file is watched"/);
  await symlink('..v2', join(mounted, '..data_tmp'));
  await rename(join(mounted, '..data_tmp'), join(mounted, '..data'));
  await service.process.stderr(/"the agent file has changed/);
});
