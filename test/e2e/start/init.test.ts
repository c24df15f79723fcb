import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { errorReply, OpenAiUpstream } from '../../support/models/openai-upstream.ts';
import { type Ending, type ProcessOptions, ServiceProcess } from '../../support/service/service-process.ts';
import { tempDirectory } from '../../support/service/temp-directory.ts';
import { verifies } from '../requirements.ts';

async function init(cwd: string, ...flags: string[]): Promise<Ending> {
  return await run({ cwd }, ...flags);
}

async function run(options: ProcessOptions, ...flags: string[]): Promise<Ending> {
  await using command = new ServiceProcess(['init', ...flags], options);
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
      'agent-service: agent.yml already exists; name another file, or overwrite it with --force\n',
    );
    expect(await init(folder.path, '--provider', 'scripted', '--force')).toMatchObject({ code: 0 });
  });

  verifies('init.check', async () => {
    await using upstream = await OpenAiUpstream.listen();
    await using folder = await tempDirectory();
    const options = { cwd: folder.path, environment: { OPENAI_API_KEY: 'a-key' } };
    const flags = ['--provider', 'openai', '--model', 'm', '--base-url', upstream.baseURL];
    const checked = await run(options, 'mine.yml', ...flags, '--check');
    expect(checked).toMatchObject({ code: 0, stderr: '' });
    expect(checked.stdout).toMatch(/^mine\.yml is written\. Start it with:\n\n.*\n\nmine\.yml: openai m at /);
    expect(checked.stdout).toMatch(/\n✓ provider .*\n✓ model /);
    expect(upstream.requests[0]?.headers.authorization).toBe('Bearer a-key');

    upstream.otherwise = () => errorReply(401);
    const refused = await run(options, 'mine.yml', ...flags, '--force', '--check');
    expect(refused.code).toBe(1);
    expect(refused.stdout).toMatch(/\n✗ provider .*\n +OpenAI refused the API key/);
    // Without the flag nothing is asked of a provider.
    const before = upstream.requests.length;
    expect((await run(options, 'mine.yml', ...flags, '--force')).code).toBe(0);
    expect(upstream.requests).toHaveLength(before);
  });

  verifies('init.check', 'also when its key is not there yet', async () => {
    await using folder = await tempDirectory();
    const keyless = await init(folder.path, '--provider', 'openai', '--model', 'm', '--check');
    expect(keyless.code).toBe(1);
    expect(keyless.stdout).toMatch(/^agent\.yml is written/);
    expect(keyless.stderr).toMatch(
      /^agent-service: agent\.yml:\d+: llm\.apiKey: .*OPENAI_API_KEY is not set/,
    );
  });
});
