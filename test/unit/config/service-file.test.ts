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

describe('the authentication of a service file', () => {
  const withIssuer = (fields: string) => `auth:\n  jwt:\n    - {${fields}}\n`;
  const issuer = 'name: corp, issuer: https://id.example.com, audience: a';

  it('shows the numbers and names that were found', async () => {
    expect(await problemsOf('auth: {apiKeys: true, auditDays: 0, public: [doc]}\n')).toEqual([
      'service.yml:1: auth.public[0]: found "doc"; expected "docs" or "metrics"; did you mean "docs"?',
      'service.yml:1: auth.auditDays: found 0; expected a number of at least 1',
    ]);
    const text = withIssuer(`${issuer.replace('corp', 'Corp')}, clockSkewSeconds: 301, algorithms: [HS256]`);
    expect(await problemsOf(text)).toEqual([
      expect.stringMatching(/auth\.jwt\[0\]\.name: found "Corp"; expected 1 to 20 /),
      expect.stringMatching(/auth\.jwt\[0\]\.algorithms\[0\]: found "HS256"; expected one of /),
      'service.yml:3: auth.jwt[0].clockSkewSeconds: found 301; expected a number of at most 300',
    ]);
  });

  it.each([
    'auth: hunter2\n',
    'auth: {apiKeys: hunter2}\n',
    'auth: {apiKeys: [hunter2]}\n',
    'auth: {jwt: hunter2}\n',
    'auth: {jwt: [hunter2]}\n',
    withIssuer(issuer.replace('https://', 'https://me:hunter2@')),
    withIssuer(`${issuer}, jwksUri: "http://id.example.com/keys?token=hunter2"`),
    withIssuer(`${issuer}, clientSecret: hunter2`),
    withIssuer(issuer.replace('id.', 'me:hunter2@id.')).concat(
      '  console: {issuer: "https://other.example.com", clientId: a}\n',
    ),
    withIssuer(issuer).concat(
      '  console: {issuer: "https://id.example.com", clientId: a, parameters: {client_secret: hunter2, code: hunter2}}\n',
    ),
  ])('shows nothing that may be a secret: %j', async (text) => {
    const problems = await problemsOf(text);
    expect(problems).not.toEqual([]);
    expect(problems.join('\n')).not.toContain('hunter2');
  });

  it('says what to do without an empty expectation before it', async () => {
    const text =
      'auth: {apiKeys: true, console: {issuer: https://id.example.com, clientId: a, scope: email}}\n';
    expect(await problemsOf(text)).toEqual([
      'service.yml:1: auth.console.scope: found "email"; it must contain openid',
      expect.stringMatching(
        /^service\.yml:1: auth\.console\.issuer: found "https:\/\/id\.example\.com"; it must also be an issuer of auth\.jwt, /,
      ),
    ]);
  });
});
