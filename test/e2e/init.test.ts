import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { type Ending, ServiceProcess } from '../support/service-process.ts';
import { tempDirectory } from '../support/temp-directory.ts';
import { verifies } from './requirements.ts';

async function init(cwd: string, ...flags: string[]): Promise<Ending> {
  await using command = new ServiceProcess(['init', ...flags], { cwd });
  return await command.ended;
}

describe.concurrent('init', () => {
  verifies('init.write', async () => {
    await using folder = await tempDirectory();
    const written = await init(folder.path, 'mine.yml', '--provider', 'openai', '--model', 'm');
    expect(written).toMatchObject({ code: 0, stderr: '' });
    expect(written.stdout).toContain('OPENAI_API_KEY=… npx agent-service --agent mine.yml\n');
    expect(await readFile(join(folder.path, 'mine.yml'), 'utf8')).toContain('\n  apiKey: $OPENAI_API_KEY\n');
    const options = { cwd: folder.path, environment: { OPENAI_API_KEY: 'a-key' } };
    await using service = await ServiceProcess.listening(
      ['--agent', 'mine.yml', '--data-dir', ':memory:'],
      options,
    );
    expect((await service.fetch('/healthz')).status).toBe(200);
  });

  verifies('init.refused', async () => {
    await using folder = await tempDirectory();
    const nothing = await init(folder.path);
    expect(nothing).toMatchObject({ code: 1, stdout: '' });
    expect(nothing.stderr).toMatch(
      /^agent-service: --provider is missing: expected one of openai, .*scripted\n$/,
    );
    expect(await init(folder.path, '--provider', 'scripted')).toMatchObject({ code: 0 });
    const twice = await init(folder.path, '--provider', 'scripted');
    expect(twice).toMatchObject({ code: 1, stdout: '' });
    expect(twice.stderr).toBe(
      'agent-service: agent.yml is there already; name another file, or write over it with --force\n',
    );
    expect(await init(folder.path, '--provider', 'scripted', '--force')).toMatchObject({ code: 0 });
  });
});
