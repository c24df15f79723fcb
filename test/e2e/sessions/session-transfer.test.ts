import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect } from 'vitest';
import { upgraded } from '../../support/log/exported-text.ts';
import { DirectedModel } from '../../support/models/directed-model.ts';
import { said } from '../../support/models/steps.ts';
import { eventually } from '../../support/project/eventually.ts';
import { RunningService, SCRIPTED } from '../../support/service/running-service.ts';
import { type Ending, ServiceProcess } from '../../support/service/service-process.ts';
import { type TempDirectory, tempDirectory } from '../../support/service/temp-directory.ts';
import { eventsOf, viewOf } from '../../support/sessions/session-api.ts';
import { verifies } from '../requirements.ts';

const oldExport = fileURLToPath(new URL('../../fixtures/log-v1/eventful.jsonl', import.meta.url));

/** Runs a command in a folder until it ends by itself. */
async function run(folder: TempDirectory, command: string, input?: string): Promise<Ending> {
  await using process = new ServiceProcess(command.split(' '), { cwd: folder.path });
  process.stdin.end(input);
  return await process.ended;
}

async function succeed(folder: TempDirectory, command: string, input?: string): Promise<string> {
  const ending = await run(folder, command, input);
  expect(ending).toMatchObject({ code: 0, stderr: '' });
  return ending.stdout;
}

async function refuse(folder: TempDirectory, command: string, input?: string): Promise<string> {
  const { code, stdout, stderr } = await run(folder, command, input);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/^agent-service: [^\n]+\n$/);
  return stderr;
}

/** A folder in which a service has answered one message, in the session `s` of `data`. */
async function folderWithSession(): Promise<TempDirectory> {
  const folder = await tempDirectory();
  await using service = await RunningService.start({ dataDir: join(folder.path, 'data') });
  await service.post('/api/message-sync', { message: 'thanks', sessionId: 's' });
  return folder;
}

describe.concurrent('a session that is exported', () => {
  verifies('cli.export', async () => {
    await using folder = await folderWithSession();
    const lines = (await succeed(folder, 'export s --data-dir data')).split('\n');
    expect(lines.pop()).toBe('');
    const envelopes = lines.map((line) => JSON.parse(line));
    expect(envelopes.map(({ v, sessionId, seq, event }) => [v, sessionId, seq, event.type])).toEqual([
      [3, 's', 1, 'turn.requested'],
      [3, 's', 2, 'turn.started'],
      [3, 's', 3, 'step.completed'],
      [3, 's', 4, 'turn.completed'],
    ]);
    const [first, , step] = envelopes;
    const known = { id: expect.any(String), correlationId: first.event.turnId };
    expect(first.meta).toEqual({
      version: 1,
      actor: { kind: 'client' },
      causationId: first.event.turnId,
      ...known,
    });
    expect(step.meta).toEqual({
      version: 2,
      actor: { kind: 'agent' },
      causationId: envelopes[1].meta.id,
      ...known,
    });
  });

  verifies('cli.export', 'not an unknown one, nor while the service runs', async () => {
    await using folder = await folderWithSession();
    expect(await refuse(folder, 'export nobody --data-dir data')).toContain('there is no session nobody');
    expect(await refuse(folder, 'export no/id --data-dir data')).toContain(
      'session: found "no/id"; expected 1 to 128 characters',
    );
    await using _service = await RunningService.start({ dataDir: join(folder.path, 'data') });
    expect(await refuse(folder, 'export s --data-dir data')).toContain('in use');
  });

  verifies('cli.sessions', async () => {
    await using folder = await folderWithSession();
    await succeed(folder, `import ${oldExport} --session r --data-dir data`);
    const lines = (await succeed(folder, 'sessions --data-dir data')).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { sessionId: 'r', status: 'busy', head: 54 },
      { sessionId: 's', status: 'idle', head: 4 },
    ]);
  });
});

describe.concurrent('a folder without a log', () => {
  verifies('cli.no-log', async () => {
    await using folder = await tempDirectory();
    const at = (name: string) => join(folder.path, name);
    await mkdir(at('empty'));
    await writeFile(at('file'), 'x');
    await symlink('nothing', at('link'));
    // As a service leaves it that was stopped before it had written a byte.
    await mkdir(at('begun'));
    await writeFile(at('begun/events.db'), '');
    const before = await readdir(folder.path, { recursive: true });
    const none = `there is no event log in ${at('empty')}`;
    const complaints: [command: string, name: string, complaint: string][] = [
      ['sessions', 'empty', none],
      ['export s', 'empty', none],
      ['replay s', 'empty', none],
      ['repair', 'empty', none],
      ['sessions', 'begun', `there is no event log in ${at('begun')}`],
      ['sessions', 'nowhere', `there is no folder ${at('nowhere')}`],
      ['sessions', 'link', `there is no folder ${at('link')}`],
      ['sessions', 'file', `${at('file')} is not a folder`],
    ];
    for (const [command, name, complaint] of complaints)
      expect(await refuse(folder, `${command} --data-dir ${name}`)).toBe(
        `agent-service: ${complaint}; choose the folder of an event log with --data-dir\n`,
      );
    expect(await readdir(folder.path, { recursive: true })).toEqual(before);
  });

  verifies('cli.no-log', 'nor where no folder is named', async () => {
    await using folder = await tempDirectory();
    const unnamed: [command: string, name: string][] = [
      [`import ${oldExport}`, ''],
      ['repair', ''],
      ['sessions', ''],
      ['export s', ':memory:'],
    ];
    for (const [command, name] of unnamed)
      expect(await refuse(folder, `${command} --data-dir ${name}`)).toBe(
        `agent-service: --data-dir: found "${name}"; expected a folder\n`,
      );
    expect(await readdir(folder.path)).toEqual([]);
  });
});

describe.concurrent('a session that is imported', () => {
  verifies('cli.import', async () => {
    await using folder = await folderWithSession();
    const exported = await succeed(folder, 'export s --data-dir data');
    await writeFile(join(folder.path, 's.jsonl'), exported);
    expect(await succeed(folder, 'import s.jsonl --data-dir other')).toBe('imported session s: 4 events\n');
    expect(await succeed(folder, 'export s --data-dir other')).toBe(exported);
    expect(await succeed(folder, 'import - --session t --data-dir other', exported)).toBe(
      'imported session t: 4 events\n',
    );

    const model = new DirectedModel();
    await using service = await RunningService.start({
      dataDir: join(folder.path, 'other'),
      adapters: { model },
    });
    for (const sessionId of ['s', 't']) {
      const message = `and now, ${sessionId}?`;
      const sync = service.post('/api/message-sync', { message, sessionId });
      const call = await model.callFor(message);
      expect(call.request.messages).toEqual([
        { role: 'user', text: 'thanks' },
        said('You are welcome!'),
        { role: 'user', text: message },
      ]);
      call.answer('It goes on.');
      expect((await sync).status).toBe(200);
    }
  });

  verifies('cli.import', 'whole, or not at all: what is wrong is told by line and field', async () => {
    await using folder = await folderWithSession();
    const exported = await succeed(folder, 'export s --data-dir data');
    const torn = exported.replace('"seq":3', '"seq":4');
    expect(await refuse(folder, 'import - --session t --data-dir data', torn)).toContain(
      'standard input:3: seq: found 4; expected 3',
    );
    expect(await refuse(folder, 'import - --data-dir data', exported)).toContain('session s already');
    expect(await refuse(folder, 'import - --session no/id --data-dir data', exported)).toContain(
      '--session: found "no/id"; expected 1 to 128 characters',
    );
    expect(await refuse(folder, 'import - --data-dir :memory:', exported)).toContain('expected a folder');
    expect(await refuse(folder, 'import nowhere.jsonl --data-dir new')).toContain('nowhere.jsonl');
    expect(existsSync(join(folder.path, 'new'))).toBe(false);
    expect(await succeed(folder, 'export s --data-dir data')).toBe(exported);
    expect((await succeed(folder, 'sessions --data-dir data')).trimEnd().split('\n')).toHaveLength(1);
  });

  verifies('cli.import-open', async () => {
    await using folder = await tempDirectory();
    const here = new DirectedModel();
    await using first = await RunningService.start({
      yaml: `${SCRIPTED}server: { drainTimeoutMs: 0 }\n`,
      dataDir: join(folder.path, 'data'),
      adapters: { model: here },
    });
    await first.post('/api/message', { message: 'tell me', sessionId: 's' });
    await here.call(0);
    await first.close();
    const exported = await succeed(folder, 'export s --data-dir data');
    expect(await succeed(folder, 'import - --data-dir other', exported)).toContain('its open turn goes on');

    const there = new DirectedModel();
    await using second = await RunningService.start({
      dataDir: join(folder.path, 'other'),
      adapters: { model: there },
    });
    // Nobody asks: the turn goes on by itself.
    const call = await there.call(0);
    expect(call.request.messages).toEqual([{ role: 'user', text: 'tell me' }]);
    call.answer('Here I am.');
    const view = await eventually(
      () => viewOf(second, 's'),
      ({ status }) => status === 'idle',
    );
    expect(view.history.map(({ content }) => content)).toEqual(['tell me', 'Here I am.']);
    expect((await eventsOf(second, 's')).map(({ event }) => event)).toContain('turnResumed');
  });

  verifies('cli.import-older', async () => {
    await using folder = await tempDirectory();
    await succeed(folder, `import ${oldExport} --data-dir data`);
    expect(await succeed(folder, 'export eventful --data-dir data')).toBe(
      upgraded(await readFile(oldExport, 'utf8')),
    );
    const model = new DirectedModel();
    await using service = await RunningService.start({
      dataDir: join(folder.path, 'data'),
      adapters: { model },
    });
    const call = await model.call(0);
    expect(call.request.messages.at(-2)).toMatchObject({
      role: 'tool',
      callId: 't5-once',
      text: expect.stringContaining('may or may not have taken effect'),
    });
    call.answer('Done.');
    (await model.callFor('And this.')).answer('That too.');
    const view = await eventually(
      () => viewOf(service, 'eventful'),
      ({ status }) => status === 'idle',
    );
    expect(view.turns).toMatchObject({ completed: 4, waiting: 0 });
  });
});
