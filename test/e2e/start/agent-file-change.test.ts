import { readFile, rename, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { agentFolder } from '../../support/service/agent-folder.ts';
import { SCRIPTED } from '../../support/service/running-service.ts';
import { ServiceProcess } from '../../support/service/service-process.ts';
import { verifies } from '../requirements.ts';

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
  // As editors do it.
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
