// biome-ignore-all lint/suspicious/noTemplateCurlyInString: a text under test holds a reference
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readAgent } from '../../../src/app/agents/read-agent.ts';
import type { Environment } from '../../../src/config/reading/expand.ts';
import { tempDirectory } from '../../support/service/temp-directory.ts';

/** What is wrong with an agent file of this text. */
async function problemsOf(text: string, environment: Environment = {}): Promise<string[]> {
  await using folder = await tempDirectory();
  const file = join(folder.path, 'agent.yml');
  await writeFile(file, text);
  try {
    readAgent(file, environment);
  } catch (error) {
    if (error instanceof Error) return error.message.replaceAll(file, 'agent.yml').split('\n');
    throw error;
  }
  return [];
}

const openai = 'llm:\n  provider: openai\n  model: m\n';
const HERE = 'expected the API key of provider "openai", here or in the environment variable OPENAI_API_KEY';

describe('the access to a model', () => {
  it.each([
    ['no key', openai, {}, `agent.yml:1: llm.apiKey: missing; ${HERE}`],
    [
      'an empty variable',
      openai,
      { OPENAI_API_KEY: '' },
      `agent.yml:1: llm.apiKey: missing; ${HERE} (OPENAI_API_KEY is empty)`,
    ],
    [
      'a reference to an empty variable',
      `${openai}  apiKey: $OPENAI_API_KEY\n`,
      { OPENAI_API_KEY: ' ' },
      `agent.yml:4: llm.apiKey: found an empty string; ${HERE} (OPENAI_API_KEY is empty)`,
    ],
    [
      'a reference to another empty variable',
      `${openai}  apiKey: $MY_KEY\n`,
      { MY_KEY: '' },
      `agent.yml:4: llm.apiKey: found an empty string; ${HERE}`,
    ],
    [
      'a key with a space',
      `${openai}  apiKey: hunter 2\n`,
      {},
      `agent.yml:4: llm.apiKey: holds characters that no key has; ${HERE}`,
    ],
    [
      'a variable with a space',
      openai,
      { OPENAI_API_KEY: 'hunter 2' },
      `agent.yml:1: llm.apiKey: OPENAI_API_KEY holds characters that no key has; ${HERE}`,
    ],
    [
      'a key of which a part is not set',
      `${openai}  apiKey: $PART of it\n`,
      {},
      'agent.yml:4: llm.apiKey: the variable PART is not set; set it, or write ${PART:-default}',
    ],
    [
      'an address with a password',
      `${openai}  apiKey: k\n  baseURL: http://me:hunter2@127.0.0.1/v1\n`,
      {},
      'agent.yml:5: llm.baseURL: holds a user name or password; expected an address without them, and the secret in llm.apiKey',
    ],
    [
      'no address',
      'llm:\n  provider: openai-compatible\n  model: m\n',
      {},
      'agent.yml:1: llm.baseURL: missing; expected the address that ends before /chat/completions, such as http://127.0.0.1:8080/v1, because provider "openai-compatible" has none of its own',
    ],
  ])('is refused with file, line and key when it has %s', async (_case, text, environment, problem) => {
    expect(await problemsOf(text, environment)).toEqual([problem]);
  });

  it('is reported with every other problem of the file', async () => {
    const text = `nme: x\n${openai}  temperature: 9\n  baseURL: http://me:hunter2@127.0.0.1/v1\n`;
    expect(await problemsOf(text)).toEqual([
      'agent.yml:1: nme: unknown key; did you mean "name"?',
      expect.stringMatching(/^agent\.yml:2: llm\.apiKey: missing/),
      expect.stringMatching(/^agent\.yml:5: llm\.temperature: found 9/),
      expect.stringMatching(/^agent\.yml:6: llm\.baseURL: holds a user name/),
    ]);
  });

  it.each([
    ['the key is in the environment', openai, { OPENAI_API_KEY: 'k\n' }],
    ['the provider needs none', 'llm: {provider: ollama, model: m}\n', {}],
    ['the model is scripted', 'llm: {provider: scripted, model: m}\n', {}],
  ])('is accepted when %s', async (_case, text, environment) => {
    expect(await problemsOf(text, environment)).toEqual([]);
  });
});
