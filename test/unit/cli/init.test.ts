import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseCommandLine } from '../../../src/cli/cli.ts';
import { agentFileText } from '../../../src/cli/init/agent-template.ts';
import { providerNames } from '../../../src/cli/init/init-command.ts';
import { choiceOf, runInit } from '../../../src/cli/init/run-init.ts';
import { loadAgentFile, parseAgentFile } from '../../../src/config/reading/agent-file.ts';
import { tempDirectory } from '../../support/service/temp-directory.ts';

const flags = { file: 'a.yml', model: 'llama3.2:latest', baseUrl: 'http://127.0.0.1:8080/v1' };

describe('a new agent file', () => {
  it.each(providerNames)('loads, for provider %s, with the key from its variable', (provider) => {
    const choice = choiceOf({ ...flags, provider });
    const text = agentFileText('a.yml', choice);
    const environment = choice.keyVariable === null ? {} : { [choice.keyVariable]: 'a-key' };
    const { config } = parseAgentFile(text, 'a.yml', environment);
    expect(config.llm).toMatchObject({ provider, model: flags.model, baseURL: flags.baseUrl });
    expect(config.llm.apiKey).toBe(choice.keyVariable === null ? undefined : 'a-key');
    expect(text).not.toContain('a-key');
  });

  it('loads with each of its examples, too', () => {
    const text = agentFileText('a.yml', choiceOf({ ...flags, provider: 'scripted' }));
    const examples = text.replaceAll(/^( *)# (?=( *(- )?\{| {2})?\w*(: |:$|- \{))/gm, '$1');
    const { config } = parseAgentFile(examples.replaceAll(/^# /gm, '#'), 'a.yml', {});
    expect(config).toMatchObject({
      llm: { temperature: 0.2, maxSteps: 25 },
      mcpServers: { files: {}, other: {} },
      approval: { rules: [{ server: 'files', tool: '*', policy: 'ask' }] },
      server: { port: 3001, allowedHosts: ['agent.example.com'] },
    });
  });

  it('names its variable and takes names with dollar signs as they are', () => {
    const choice = choiceOf({ ...flags, provider: 'openai', model: 'a$b: #c', keyVariable: 'MY_KEY' });
    const text = agentFileText('a.yml', choice);
    expect(text).toContain('\n  apiKey: $MY_KEY\n');
    expect(text).toContain('#   MY_KEY=… npx agent-service --agent a.yml\n');
    expect(parseAgentFile(text, 'a.yml', { MY_KEY: 'k' }).config.llm.model).toBe('a$b: #c');
  });

  it('is written from flags alone, and over another only when forced', async () => {
    await using folder = await tempDirectory();
    const file = `${folder.path}/new.yml`;
    const written = await runInit({ file, provider: 'scripted' }, false);
    expect(written.text).toContain(`agent-service --agent ${file}\n`);
    expect(written.shouldCheck).toBe(false);
    expect(loadAgentFile(file, {}).config.llm.provider).toBe('scripted');
    const openai = { file, provider: 'openai', model: 'm' };
    await expect(runInit(openai, false)).rejects.toThrow(`${file} already exists; name another file`);
    expect(loadAgentFile(file, {}).config.llm.provider).toBe('scripted');
    await runInit({ ...openai, force: true }, false);
    expect(loadAgentFile(file, { OPENAI_API_KEY: 'k' }).config.llm.provider).toBe('openai');
    const noFolder = { ...openai, file: join(folder.path, 'no', 'a.yml') };
    await expect(runInit(noFolder, false)).rejects.toThrow(
      `${noFolder.file}: there is no folder ${join(folder.path, 'no')}; make it first, or name a file elsewhere`,
    );
    await expect(runInit({ ...openai, file: join(file, 'a.yml') }, false)).rejects.toThrow(
      `${file} is no folder; name a file elsewhere`,
    );
    await expect(runInit({ ...openai, file: folder.path, force: true }, false)).rejects.toThrow(
      `${folder.path}: this is a folder; expected the name of a file`,
    );
  });

  it('takes no address with a user and a password', () => {
    expect(parseCommandLine(['init', '--base-url', 'http://u:p@h/v1'], {})).toMatchObject({
      kind: 'exit',
      code: 1,
      output: expect.stringContaining('The address must be a URL without user and password.'),
    });
  });

  it('names the flag that is missing or wrong', () => {
    expect(() => choiceOf({ file: 'a' })).toThrow('--provider is missing: expected one of openai,');
    expect(() => choiceOf({ file: 'a', provider: 'openai' })).toThrow('--model is missing');
    expect(() => choiceOf({ file: 'a', provider: 'openai-compatible', model: 'm' })).toThrow(
      '--base-url is missing',
    );
    for (const args of [
      ['--provider', 'opnai'],
      ['--key-variable', 'sk-123'],
      ['--model', ''],
      ['--base-url', 'localhost:8080'],
    ])
      expect(parseCommandLine(['init', ...args], {})).toMatchObject({
        kind: 'exit',
        code: 1,
        stream: 'stderr',
      });
  });
});
