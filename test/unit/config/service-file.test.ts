import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { AgentFileError } from '../../../src/config/problems/agent-file-error.ts';
import { loadServiceFile } from '../../../src/config/reading/service-file.ts';
import { tempDirectory } from '../../support/service/temp-directory.ts';

/** The problems of a service file with this text, each with its line. */
async function problemsOf(text: string): Promise<string[]> {
  await using folder = await tempDirectory();
  const file = join(folder.path, 'service.yml');
  await writeFile(file, text);
  try {
    loadServiceFile(file, {});
  } catch (error) {
    if (error instanceof AgentFileError) return error.message.replaceAll(file, 'service.yml').split('\n');
    throw error;
  }
  return [];
}

it('a service file with wrong addresses is refused with file, line and key, and without their passwords', async () => {
  await using folder = await tempDirectory();
  const file = join(folder.path, 'service.yml');
  await writeFile(
    file,
    'auth: {apiKeys: true}\nstore: mysql://user:s3cret@db/agents\nbus: http://user:s3cret@bus\n',
  );
  const load = () => loadServiceFile(file, {});
  expect(load).toThrow(`${file}:2: store: the address of the database must be like postgres://`);
  expect(load).toThrow(`${file}:3: bus: the bus must be the address of a NATS server`);
  expect(load).not.toThrow(/s3cret/);

  await writeFile(file, 'store: postgres://user@db/agents\nbus: $BUS\n');
  expect(loadServiceFile(file, { BUS: 'nats://bus' })).toMatchObject({
    store: 'postgres://user@db/agents',
    bus: 'nats://bus',
  });
});

describe('a file that is no service file', () => {
  const expected = 'expected a map with keys such as auth or agents';
  it.each([
    ['empty', '', `service.yml: the file is empty; ${expected}`],
    ['nothing but a comment', '# nothing\n', `service.yml: the file is empty; ${expected}`],
    ['a list', '- a\n', `service.yml:1: a list; ${expected}`],
    ['plain text', 'hello', `service.yml:1: a single value; ${expected}`],
  ])('is told what a service file has when it is %s', async (_case, text, problem) => {
    expect(await problemsOf(text)).toEqual([problem]);
  });
});

describe('the list of agents of a service file', () => {
  it('names the keys of an entry when it has an unknown one', async () => {
    expect(await problemsOf('agents: [{id: y, path: ../changed.yml}]\n')).toEqual([
      'service.yml:1: agents[0].file: missing; expected a string',
      'service.yml:1: agents[0].path: unknown key; expected one of id, file',
    ]);
    expect(await problemsOf('agents: [{file: a.yml, ID: b}]\n')).toEqual([
      'service.yml:1: agents[0].ID: unknown key; did you mean "id"?',
    ]);
  });

  it('blames only the entry whose id is none', async () => {
    expect(await problemsOf('agents: [{id: "a b", file: ../changed.yml}, one.yml, two.yml]\n')).toEqual([
      expect.stringMatching(/^service\.yml:1: agents\[0\]\.id: found "a b"; expected /),
    ]);
    expect(await problemsOf('agents:\n  - {file: 3}\n  - one.yml\n')).toEqual([
      'service.yml:2: agents[0].file: found 3; expected a string (put it in quotes)',
    ]);
  });

  it('has an id for each agent that is its own', async () => {
    expect(await problemsOf('agents:\n  - a b.yml\n  - one.yml\n  - {id: one, file: x.yml}\n')).toEqual([
      expect.stringContaining('service.yml:2: agents[0]: needs an id, because the name of its file is none'),
      expect.stringContaining('service.yml:4: agents[2]: has the id one of another agent'),
    ]);
  });
});
