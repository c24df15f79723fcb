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
