import { afterEach, describe, expect, it, vi } from 'vitest';
import { realModel } from '../../../src/app/adapters/real-model.ts';
import { LlmConfig, modelProviders } from '../../../src/config/schema/llm-config.ts';
import { providers } from '../../../src/model-http/provider/providers.ts';
import type { LanguageModel } from '../../../src/ports/language-model.ts';
import { OpenAiModelHarness } from '../../support/models/openai-model-harness.ts';
import { ReplyRecord } from '../../support/models/replies.ts';

const make = (config: object, env: Record<string, string> = {}) =>
  realModel(LlmConfig.parse({ model: 'm', ...config }), env);

describe('making a model', () => {
  it.each(modelProviders.filter((provider) => providers[provider].keyRequired))(
    'for %s without a key is refused, naming the key and the variable',
    (provider) => {
      expect(() => make({ provider })).toThrow(
        new RegExp(
          `llm\\.apiKey: missing.*${provider}.*environment variable ${providers[provider].keyVariable}`,
        ),
      );
    },
  );

  it.each(modelProviders.filter((provider) => provider !== 'openai-compatible'))(
    'for %s needs nothing but the key',
    (provider) => {
      expect(make({ provider, apiKey: 'key' }).label).toBe(`${provider} m`);
    },
  );

  it('for openai-compatible without an address is refused, naming llm.baseURL', () => {
    expect(() => make({ provider: 'openai-compatible', apiKey: 'key' })).toThrow(/llm\.baseURL: missing/);
  });

  it.each(['ollama', 'lmstudio', 'vllm'] as const)('for %s needs neither key nor address', (provider) => {
    expect(make({ provider }).label).toBe(`${provider} m`);
    expect(providers[provider].baseURL).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1$/);
  });

  it('takes an empty key for none', () => {
    expect(() => make({ provider: 'openai', apiKey: ' ' }, { OPENAI_API_KEY: '' })).toThrow(
      /llm\.apiKey: found an empty string.*OPENAI_API_KEY is empty/,
    );
  });

  it('refuses a key that cannot be sent in a header, without quoting it', () => {
    expect(() => make({ provider: 'openai', apiKey: 'sk-se\ncret' })).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('sk-se') }),
    );
  });

  it('refuses an address with a password in it, without quoting it', () => {
    const config = { provider: 'openai', apiKey: 'k', baseURL: 'http://me:hunter2@127.0.0.1/v1' };
    expect(() => make(config)).toThrow(/^llm\.baseURL: holds a user name or password(?!.*hunter2)/);
  });

  it('is not for the scripted provider', () => {
    expect(() => make({ provider: 'scripted' })).toThrow(/scripted/);
  });
});

describe('the key', () => {
  it('of the agent file goes before that of the environment', async () => {
    await using harness = await OpenAiModelHarness.open();
    const model = harness.model({ apiKey: 'from-file' }, { OPENAI_API_KEY: 'from-env' });
    expect(await authorizationSent(harness, model)).toBe('Bearer from-file');
  });

  it('comes from the environment that was passed in, without the line end of the file it was read from', async () => {
    await using harness = await OpenAiModelHarness.open();
    const model = harness.model({ apiKey: undefined }, { OPENAI_API_KEY: 'from-env\n' });
    expect(await authorizationSent(harness, model)).toBe('Bearer from-env');
  });

  it('of OpenAI is not sent to another server; without a key there is no header', async () => {
    await using harness = await OpenAiModelHarness.open();
    const model = harness.model(
      { provider: 'openai-compatible', apiKey: undefined },
      { OPENAI_API_KEY: 'for-openai' },
    );
    expect(await authorizationSent(harness, model)).toBeUndefined();
  });
});

describe('the environment of the process', () => {
  afterEach(() => {
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
  });

  it('reaches no provider and prints no prompt, though the SDK of OpenAI would read it', async () => {
    vi.stubEnv('OPENAI_API_KEY', 'process-key');
    vi.stubEnv('OPENAI_ADMIN_KEY', 'process-admin-key');
    vi.stubEnv('OPENAI_ORG_ID', 'process-org');
    vi.stubEnv('OPENAI_PROJECT_ID', 'process-project');
    vi.stubEnv('OPENAI_BASE_URL', 'http://127.0.0.1:1/v1');
    vi.stubEnv('OPENAI_CUSTOM_HEADERS', 'x-secret: process-secret\ncontent-length: 1');
    vi.stubEnv('OPENAI_LOG', 'debug');
    const debug = vi.spyOn(console, 'debug');
    await using harness = await OpenAiModelHarness.open();
    await authorizationSent(harness, harness.model({ provider: 'ollama', apiKey: undefined }));
    expect(JSON.stringify((await harness.upstream.request(0)).headers)).not.toContain('process-');
    expect(debug).not.toHaveBeenCalled();
  });
});

async function authorizationSent(
  harness: OpenAiModelHarness,
  model: LanguageModel,
): Promise<string | undefined> {
  const request = { systemPrompt: '', messages: [], tools: [] };
  await model.generate(request, new ReplyRecord(), new AbortController().signal);
  return (await harness.upstream.request(0)).headers.authorization;
}
