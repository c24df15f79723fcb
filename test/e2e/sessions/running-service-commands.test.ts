import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { RunningService } from '../../support/service/running-service.ts';
import { type Ending, ServiceProcess } from '../../support/service/service-process.ts';
import { type TempDirectory, tempDirectory } from '../../support/service/temp-directory.ts';
import { verifies } from '../requirements.ts';

async function run(command: string, { path }: TempDirectory, input?: string): Promise<Ending> {
  await using process = new ServiceProcess(command.split(' '), { cwd: path });
  process.stdin.end(input);
  return await process.ended;
}

/** Text that is longer than what a socket takes at once. */
const LONG = 'long '.repeat(400_000);
/** In one chunk: a word at a time takes longer than all the rest. */
const REPEATS = {
  llm: {
    provider: 'scripted',
    model: 'offline',
    script: [{ when: '^long', reply: LONG, chunks: 1 }],
  },
};

describe('a command that asks a running service', () => {
  verifies('cli.url', async () => {
    await using folder = await tempDirectory();
    const dataDir = join(folder.path, 'data');
    const fromService: Record<string, Ending> = {};
    const commands = ['sessions', 'export s', 'replay s', 'export long'];
    {
      await using service = await RunningService.start({ dataDir, yaml: JSON.stringify(REPEATS) });
      await service.post('/api/message-sync', { message: 'thanks', sessionId: 's' });
      for (let turns = 0; turns < 3; turns += 1)
        await service.post('/api/message-sync', { message: LONG, sessionId: 'long' });
      for (const command of commands)
        fromService[command] = await run(`${command} --url ${service.url}`, folder);
    }
    for (const command of commands) {
      const fromFolder = await run(`${command} --data-dir data`, folder);
      expect(fromFolder).toMatchObject({ code: 0, stderr: '' });
      expect(fromService[command]).toEqual(fromFolder);
    }
    const imported = await run(
      `import - --session copy --data-dir data`,
      folder,
      fromService['export long']?.stdout,
    );
    expect(imported).toMatchObject({ code: 0, stdout: 'imported session copy: 12 events\n' });
  });

  verifies('cli.url', 'or says why it cannot', async () => {
    await using folder = await tempDirectory();
    await using service = await RunningService.start();
    const { url } = service;
    const refusals: [command: string, complaint: RegExp][] = [
      [`export nobody --url ${url}`, /^agent-service: There is no session nobody\.\n$/],
      [`replay nobody --url ${url}`, /^agent-service: There is no session nobody\.\n$/],
      [
        'sessions --url http://127.0.0.1:9',
        /no service answers at http:\/\/127\.0\.0\.1:9 \(bad port\); start one/,
      ],
      [
        `sessions --url ${url} --data-dir data`,
        /'--url <url>' cannot be used with option '--data-dir <dir>'/,
      ],
      ['sessions --url nonsense', /Expected an address such as http/],
      [`replay --file x --url ${url}`, /'--file' cannot be used with option '--url <url>'/],
    ];
    for (const [command, complaint] of refusals) {
      const { code, stdout, stderr } = await run(command, folder);
      expect({ command, code, stdout }).toEqual({ command, code: 1, stdout: '' });
      expect(stderr).toMatch(complaint);
    }
  });

  verifies('cli.in-use', async () => {
    await using folder = await tempDirectory();
    const args = ['--data-dir', 'data', '--web-port', '0'];
    await using service = await ServiceProcess.listening(args, { cwd: folder.path });
    for (const command of ['sessions', 'export s', 'replay s']) {
      const { code, stderr } = await run(`${command} --data-dir data`, folder);
      expect(code).toBe(1);
      expect(stderr).toContain(
        `is in use by another agent-service at http://127.0.0.1:${service.port}; stop it`,
      );
      expect(stderr).toContain('or ask the service: --url with its address, instead of --data-dir');
    }
    const { stderr } = await run(`${args.join(' ')}`, folder);
    expect(stderr).toContain(
      `is in use by another agent-service at http://127.0.0.1:${service.port}; stop it`,
    );
    expect(stderr).not.toContain('--url');
  });
});
