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
