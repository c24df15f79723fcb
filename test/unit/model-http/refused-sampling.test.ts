import { describe, expect, it } from 'vitest';
import { LlmConfig } from '../../../src/config/schema/llm-config.ts';
import { refusal } from '../../../src/model-http/failures/refusal.ts';
import { providerEndpoint } from '../../../src/model-http/provider/provider-endpoint.ts';
import { RefusedSampling } from '../../../src/model-http/provider/refused-sampling.ts';
import type { ModelReply, ModelRequest } from '../../../src/ports/language-model.ts';

const access = providerEndpoint(LlmConfig.parse({ provider: 'openai', model: 'gpt-5', apiKey: 'k' }), {});
const REPLY: ModelReply = { parts: [{ type: 'text', text: 'Hello.' }] };

/** Of the fields, where they are others than those of the settings. */
const NAMES: Record<string, string[]> = { topP: ['top_p'], stop: ['stop', 'stop_sequences'] };

type Settings = ModelRequest['settings'];

/** A model that refuses the fields, and what it was asked with. */
function refusing(
  fields: readonly string[],
  { status = 400, code = 'unsupported_value', accepted = [] as readonly unknown[] } = {},
) {
  const sampling = new RefusedSampling();
  const asked: Settings[] = [];
  const call = async ({ settings }: ModelRequest): Promise<ModelReply> => {
    asked.push(settings);
    const sent = Object.entries(settings ?? {}).flatMap(([name, value]) => {
      if (accepted.includes(value)) return [];
      return NAMES[name] ?? name;
    });
    const param = fields.find((field) => sent.includes(field) || field === 'of the agent file');
    if (param === undefined) return REPLY;
    const named = param === 'of the agent file' ? 'temperature' : param;
    throw refusal(access, { error: { message: 'no', param: named, code } }, { tools: [], status });
  };
  const ask = (settings?: Settings) => {
    const request = { systemPrompt: '', messages: [], tools: [], ...(settings && { settings }) };
    return sampling.generate(request, { hasAny: false }, call);
  };
  return { asked, ask };
}

describe('sampling that a client asks for', () => {
  it('is left out where the model refuses it, and from then on', async () => {
    const { asked, ask } = refusing(['temperature', 'top_p']);
    const settings = { temperature: 0.7, topP: 0.9, maxTokens: 10 };
    expect(await ask(settings)).toBe(REPLY);
    expect(await ask(settings)).toBe(REPLY);
    expect(asked).toEqual([settings, { topP: 0.9, maxTokens: 10 }, { maxTokens: 10 }, { maxTokens: 10 }]);
  });

  it('is left out with the refused value only, where the provider does not say that it takes none', async () => {
    const { asked, ask } = refusing(['top_p'], { code: 'BadRequestError', accepted: [0.9] });
    for (const topP of [0, 0.9, 0]) expect(await ask({ topP })).toBe(REPLY);
    expect(asked).toEqual([{ topP: 0 }, {}, { topP: 0.9 }, {}]);
  });

  it.each(['stop', 'stop_sequences'])(
    'is left out with the texts to stop at, refused as %s',
    async (field) => {
      const { asked, ask } = refusing([field], { code: 'unsupported_parameter' });
      const settings = { stop: ['END'], maxTokens: 10 };
      for (let time = 0; time < 2; time += 1) expect(await ask(settings)).toBe(REPLY);
      expect(asked).toEqual([settings, { maxTokens: 10 }, { maxTokens: 10 }]);
    },
  );

  it('knows refused texts to stop at again', async () => {
    const { asked, ask } = refusing(['stop'], { code: 'BadRequestError' });
    for (let time = 0; time < 2; time += 1) expect(await ask({ stop: ['END'] })).toBe(REPLY);
    expect(asked).toEqual([{ stop: ['END'] }, {}, {}]);
  });

  it('is left out where only the sentence of the error names the setting, as at xAI', async () => {
    const error = {
      code: 'Client specified an invalid argument to one of the API endpoints.',
      error: 'Argument not supported on this model: stop',
    };
    const asked: Settings[] = [];
    const request = { systemPrompt: '', messages: [], tools: [], settings: { stop: ['END'] } };
    const reply = await new RefusedSampling().generate(request, { hasAny: false }, async ({ settings }) => {
      asked.push(settings);
      if (settings?.stop) throw refusal(access, error, { tools: [], status: 400 });
      return REPLY;
    });
    expect(reply).toBe(REPLY);
    expect(asked).toEqual([{ stop: ['END'] }, {}]);
  });

  it('is sent as it is to a model that takes it', async () => {
    const { asked, ask } = refusing([]);
    await ask({ temperature: 0.7 });
    await ask();
    expect(asked).toEqual([{ temperature: 0.7 }, undefined]);
  });

  it.each([
    ['the agent file has it', ['of the agent file'], {}],
    ['its value is out of range', ['temperature'], { code: 'decimal_above_max_value' }],
    ['the request was refused in another way', ['temperature'], { status: 429 }],
  ])('is not left out where %s', async (_why, fields, answer) => {
    const { asked, ask } = refusing(fields, answer);
    const settings = fields.includes('temperature') ? { temperature: 0.7 } : { seed: 1 };
    await expect(ask(settings)).rejects.toThrow('The language model could not answer.');
    expect(asked).toEqual([settings]);
  });
});
