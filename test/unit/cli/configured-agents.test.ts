import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readConfiguration } from '../../../src/cli/run/configured-agents.ts';
import { tempDirectory } from '../../support/service/temp-directory.ts';

it.each(['--agent', 'AGENT_SERVICE_AGENT'])('%s beside a list of agents is refused by name', async (name) => {
  await using folder = await tempDirectory();
  const serviceFile = join(folder.path, 'service.yml');
  await writeFile(serviceFile, 'agents: [a.yml, b.yml]\n');
  const agentFile = { name, value: 'c.yml' };
  await expect(readConfiguration({ agentFile, serviceFile }, {})).rejects.toThrow(
    `${name} names one agent file, and the service file has a list of agents.`,
  );
});

it('the problems of all agent files are told at once', async () => {
  await using folder = await tempDirectory();
  const serviceFile = join(folder.path, 'service.yml');
  await writeFile(serviceFile, 'agents: [good.yml, bad.yml, missing.yml, worse.yml]\n');
  const scripted = 'llm: {provider: scripted, model: offline, script: [{when: hi, reply: hello}]}\n';
  await writeFile(join(folder.path, 'good.yml'), scripted);
  await writeFile(join(folder.path, 'bad.yml'), `${scripted}colour: red\n`);
  await writeFile(join(folder.path, 'worse.yml'), `${scripted}colour: red\nshape: round\n`);
  const reading = readConfiguration({ agentFile: undefined, serviceFile }, {});
  const told = await reading.then(String, (error: Error) => error.message.split('\n'));
  expect(told).toEqual([
    expect.stringContaining('bad.yml:2: colour'),
    expect.stringContaining('missing.yml: '),
    expect.stringContaining('worse.yml:2: colour'),
    expect.stringContaining('worse.yml:3: shape'),
  ]);
});
