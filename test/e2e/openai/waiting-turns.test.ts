import OpenAI from 'openai';
import { describe, expect } from 'vitest';
import { DirectedModel } from '../../support/models/directed-model.ts';
import { RunningService } from '../../support/service/running-service.ts';
import { verifies } from '../requirements.ts';

const SETTINGS = {
  llm: { provider: 'scripted', model: 'offline' },
  server: { drainTimeoutMs: 0 },
  limits: { requestsPerMinute: false },
};
const model = 'default';
const chatWeather: OpenAI.ChatCompletionFunctionTool = {
  type: 'function',
  function: { name: 'weather', parameters: { type: 'object' } },
};

async function start(settings: object = {}) {
  const directed = new DirectedModel();
  const yaml = JSON.stringify({ ...SETTINGS, ...settings });
  const service = await RunningService.start({ yaml, adapters: { model: directed } });
  const baseURL = `http://127.0.0.1:${service.port}/v1`;
  const client = new OpenAI({ baseURL, apiKey: 'none', maxRetries: 0, timeout: 30_000 });
  return { model: directed, client, [Symbol.asyncDispose]: () => service.close() };
}

type Rig = Awaited<ReturnType<typeof start>>;

const user = (content: string) => ({ role: 'user' as const, content });
const result = (id: string, content = 'sunny') => ({ role: 'tool' as const, tool_call_id: id, content });

function chat({ client }: Rig, messages: OpenAI.ChatCompletionMessageParam[], key?: string) {
  return client.chat.completions.create(
    { model, messages, tools: [chatWeather] },
    { headers: { 'X-Session-Id': 'trip', ...(key && { 'Idempotency-Key': key }) } },
  );
}

/** Lets the model ask for the weather in the session `trip`. @returns the id of the call. */
async function waitingChat(rig: Rig, key?: string): Promise<string> {
  const asking = chat(rig, [user('Weather in Rome?')], key);
  (await rig.model.callFor('Weather in Rome?')).askFor({ name: 'weather' });
  const [choice] = (await asking).choices;
  return choice?.message.tool_calls?.[0]?.id ?? '';
}

describe('a conversation whose turn waits for its client', () => {
  verifies(
    'openai.session',
    'also where it sends only results of its tools, and a message behind them',
    async () => {
      await using rig = await start();
      const id = await waitingChat(rig);
      const asked = [result(id), user('Be quick.')];
      const next = chat(rig, asked, 'k1');
      const going = await rig.model.callFor('Be quick.');
      expect(going.request.messages.filter(({ role }) => role === 'tool')).toMatchObject([{ text: 'sunny' }]);
      going.answer('Sunny.');
      expect((await next).choices[0]?.message.content).toBe('Sunny.');
      const calls = rig.model.calls.length;
      expect((await chat(rig, asked, 'k1')).choices[0]?.message.content).toBe('Sunny.');
      // Nothing waits for it any more.
      await expect(chat(rig, [result(id)])).rejects.toMatchObject({ status: 404, code: 'call_not_found' });
      expect(rig.model.calls).toHaveLength(calls);
    },
  );

  verifies(
    'openai.session',
    'and a message without the results that its turn waits for is refused',
    async () => {
      await using rig = await start();
      const id = await waitingChat(rig, 'k1');
      await expect(chat(rig, [user('Be quick.')])).rejects.toMatchObject({
        status: 400,
        param: 'messages',
        error: { details: { callId: id } },
      });
      expect(await waitingChat(rig, 'k1')).toBe(id);
      const next = chat(rig, [result(id)]);
      (await rig.model.call(1)).answer('Sunny.');
      expect((await next).choices[0]?.message.content).toBe('Sunny.');
      expect(rig.model.calls).toHaveLength(2);
    },
  );

  verifies('openai.session', 'unless the agent has messages interrupt turns', async () => {
    await using rig = await start({ sessions: { whenBusy: 'interrupt' } });
    await waitingChat(rig);
    const next = chat(rig, [user('Be quick.')]);
    (await rig.model.callFor('Be quick.')).answer('Yes.');
    expect((await next).choices[0]?.message.content).toBe('Yes.');
  });

  verifies(
    'openai.responses-conversation',
    'and takes no message behind a turn that waits for its client',
    async () => {
      await using rig = await start();
      const { responses } = rig.client;
      const tool = { ...chatWeather.function, type: 'function' as const, strict: false };
      const common = { model, conversation: 'trip', tools: [{ ...tool, parameters: { type: 'object' } }] };
      const asking = responses.create({ ...common, input: 'Weather?' });
      (await rig.model.call(0)).askFor({ name: 'weather' });
      const [item] = (await asking).output;
      if (item?.type !== 'function_call') throw new Error('there is no call');
      await expect(responses.create({ ...common, input: 'Be quick.' })).rejects.toThrow(
        `No tool output found for function call ${item.call_id}.`,
      );
      const next = responses.create({
        ...common,
        input: [{ type: 'function_call_output', call_id: item.call_id, output: 'sunny' }],
      });
      (await rig.model.call(1)).answer('Sunny.');
      expect((await next).output_text).toBe('Sunny.');
      // The session has the result already: a client that got no answer to it sends it again.
      const again = responses.create({
        ...common,
        input: [{ type: 'function_call_output', call_id: item.call_id, output: 'sunny' }, user('And now?')],
      });
      const last = await rig.model.callFor('And now?');
      expect(last.request.messages.filter(({ role }) => role === 'tool')).toHaveLength(1);
      last.answer('Still sunny.');
      expect((await again).output_text).toBe('Still sunny.');
    },
  );
});
