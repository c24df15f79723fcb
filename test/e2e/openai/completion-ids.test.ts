import OpenAI from 'openai';
import { describe, expect } from 'vitest';
import { DirectedModel } from '../../support/models/directed-model.ts';
import { RunningService } from '../../support/service/running-service.ts';
import { verifies } from '../requirements.ts';

const YAML = JSON.stringify({
  llm: { provider: 'scripted', model: 'offline' },
  limits: { requestsPerMinute: false },
});
const weather: OpenAI.ChatCompletionFunctionTool = {
  type: 'function',
  function: { name: 'weather', parameters: { type: 'object' } },
};

async function start() {
  const model = new DirectedModel();
  const service = await RunningService.start({ yaml: YAML, adapters: { model } });
  const client = new OpenAI({ baseURL: `http://127.0.0.1:${service.port}/v1`, apiKey: 'none' });
  return { model, client, [Symbol.asyncDispose]: () => service.close() };
}

describe('the completions of one turn', () => {
  for (const how of ['create', 'stream'] as const)
    verifies('openai.tools', `each has an id of its own, also when it is repeated (${how})`, async () => {
      await using rig = await start();
      const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Weather?' }];
      const { completions } = rig.client.chat;
      const ask = (key: string) => {
        const asked = { model: 'default', messages: [...messages], tools: [weather] };
        const headers = { 'Idempotency-Key': key };
        return how === 'create'
          ? completions.create(asked, { headers })
          : completions.stream(asked, { headers }).finalChatCompletion();
      };
      const ids: string[] = [];
      for (const round of [0, 1, 2]) {
        const asking = ask(`k${round}`);
        const call = await rig.model.call(round);
        if (round < 2) call.askFor({ name: 'weather', callId: `w${round}` });
        else call.answer('Sunny.');
        const { id, choices } = await asking;
        const [choice] = choices;
        if (!choice) throw new Error('there is no choice');
        ids.push(id);
        expect(await ask(`k${round}`)).toMatchObject({ id });
        const [called] = choice.message.tool_calls ?? [];
        if (called)
          messages.push(choice.message, { role: 'tool', tool_call_id: called.id, content: 'sunny' });
      }
      const [first = ''] = ids;
      expect(first).toMatch(/^chatcmpl-[0-9a-f-]{36}$/);
      expect(ids).toEqual([first, `${first}.2`, `${first}.3`]);
    });
});
