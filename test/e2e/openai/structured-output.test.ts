import OpenAI from 'openai';
import { zodResponseFormat } from 'openai/helpers/zod';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { DirectedModel } from '../../support/models/directed-model.ts';
import { errorOf } from '../../support/service/error-envelope.ts';
import { RunningService } from '../../support/service/running-service.ts';
import { viewOf } from '../../support/sessions/session-api.ts';
import { verifies } from '../requirements.ts';

const YAML = JSON.stringify({
  llm: { provider: 'scripted', model: 'offline' },
  server: { drainTimeoutMs: 0 },
  limits: { requestsPerMinute: false },
});
const outputSchema = {
  type: 'object',
  properties: { colour: { type: 'string' } },
  required: ['colour'],
  additionalProperties: false,
};

async function start() {
  const model = new DirectedModel();
  const service = await RunningService.start({ yaml: YAML, adapters: { model } });
  const client = new OpenAI({ baseURL: `http://127.0.0.1:${service.port}/v1`, apiKey: 'none' });
  return { model, service, client, [Symbol.asyncDispose]: () => service.close() };
}

describe('structured output', () => {
  verifies('openai.output', async () => {
    await using rig = await start();
    const ask = () =>
      rig.client.chat.completions.parse({
        model: 'default',
        messages: [{ role: 'user', content: 'Which colour?' }],
        response_format: zodResponseFormat(z.object({ colour: z.string() }), 'colour'),
      });
    const asked = ask();
    const first = await rig.model.call(0);
    expect(first.request.output).toMatchObject({ name: 'colour', strict: true });
    first.answer('{"colour":"red"}');
    expect((await asked).choices[0]?.message.parsed).toEqual({ colour: 'red' });
    const failing = ask();
    (await rig.model.call(1)).answer('red');
    (await rig.model.call(2)).answer('{"color":"red"}');
    await expect(failing).rejects.toMatchObject({ status: 500, code: 'agent_error' });
    await expect(failing).rejects.toThrow("must have required property 'colour'");
  });

  verifies('openai.output', 'streamed, without what was wrong', async () => {
    await using rig = await start();
    const stream = rig.client.chat.completions.stream({
      model: 'default',
      messages: [{ role: 'user', content: 'Which colour?' }],
      response_format: { type: 'json_object' },
    });
    const pieces: string[] = [];
    stream.on('content', (delta) => pieces.push(delta));
    (await rig.model.call(0)).answer('It is ', 'red.');
    (await rig.model.call(1)).answer('{"colour":', '"red"}');
    expect(await stream.finalContent()).toBe('{"colour":"red"}');
    expect(pieces.join('')).toBe('{"colour":"red"}');
  });

  verifies('openai.output', 'after a tool of the client', async () => {
    await using rig = await start();
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Which colour?' }];
    const tool = { type: 'function' as const, function: { name: 'look' } };
    const body = {
      model: 'default',
      tools: [tool],
      response_format: { type: 'json_object' as const },
    };
    const asked = rig.client.chat.completions.create({ ...body, messages });
    const first = await rig.model.call(0);
    first.say('I look.');
    first.askFor({ name: 'look', callId: 'l' });
    const [choice] = (await asked).choices;
    const call = choice?.message.tool_calls?.[0];
    expect(choice?.message.content).toBeNull();
    if (!call || !choice) throw new Error('nothing was called');
    messages.push(choice.message, { role: 'tool', tool_call_id: call.id, content: 'red' });
    const next = rig.client.chat.completions.create({ ...body, messages });
    (await rig.model.call(1)).answer('{"colour":"red"}');
    expect((await next).choices[0]?.message.content).toBe('{"colour":"red"}');
  });

  verifies('output.schema', async () => {
    await using rig = await start();
    const ask = (sessionId: string) =>
      rig.service.post('/api/message-sync', { message: 'Which colour?', sessionId, outputSchema });
    const right = ask('right');
    (await rig.model.call(0)).answer('Red!');
    (await rig.model.call(1)).answer('{"colour":"red"}');
    expect(await (await right).json()).toMatchObject({ success: true, response: '{"colour":"red"}' });
    expect((await viewOf(rig.service, 'right')).history).toEqual([
      { role: 'user', content: 'Which colour?' },
      { role: 'assistant', content: 'Red!' },
      { role: 'user', content: expect.stringContaining('it is not JSON'), correction: true },
      { role: 'assistant', content: '{"colour":"red"}' },
    ]);
    const wrong = ask('wrong');
    (await rig.model.call(2)).answer('Red!');
    (await rig.model.call(3)).answer('{"colour":"red","sure":true}');
    const refused = await wrong;
    expect(refused.status).toBe(500);
    expect(await refused.json()).toMatchObject({
      error: {
        code: 'AGENT_ERROR',
        details: { reason: expect.stringContaining('additional properties (sure)') },
      },
    });
    expect(await viewOf(rig.service, 'wrong')).toMatchObject({ turns: { failed: 1 }, status: 'idle' });
  });

  verifies(
    'output.schema',
    'a schema that nothing could fit is refused before the model is asked',
    async () => {
      await using rig = await start();
      const outputSchema = { type: 'objekt' };
      const asked = await rig.service.post('/api/message-sync', { message: 'Which colour?', outputSchema });
      const { code, details } = await errorOf(asked, 400);
      expect([code, details.field, details.issue]).toEqual([
        'INVALID_REQUEST',
        'outputSchema',
        expect.stringContaining('schema is invalid'),
      ]);
      expect(rig.model.calls).toHaveLength(0);
      expect((await rig.service.fetch('/api/sessions/default')).status).toBe(404);
    },
  );
});
