import OpenAI from 'openai';
import { describe, expect } from 'vitest';
import { DirectedModel } from '../../support/models/directed-model.ts';
import { RunningService } from '../../support/service/running-service.ts';
import { DirectedTools } from '../../support/tools/directed-tools.ts';
import { verifies } from '../requirements.ts';

const YAML = JSON.stringify({
  llm: { provider: 'scripted', model: 'offline' },
  mcpServers: { desk: { command: 'none' } },
  server: { drainTimeoutMs: 0 },
  limits: { requestsPerMinute: false },
});
const weather: OpenAI.ChatCompletionFunctionTool = {
  type: 'function',
  function: { name: 'weather', parameters: { type: 'object' } },
};
const common = { model: 'default', tools: [weather] };

async function start() {
  const model = new DirectedModel();
  const tools = new DirectedTools({ look: {} });
  const service = await RunningService.start({ yaml: YAML, adapters: { model, connector: tools } });
  const client = new OpenAI({ baseURL: `http://127.0.0.1:${service.port}/v1`, apiKey: 'none' });
  return { model, tools, client, [Symbol.asyncDispose]: () => service.close() };
}

describe('a stream that is repeated with its key', () => {
  verifies('openai.key', 'while a tool of the agent runs', async () => {
    await using rig = await start();
    const question = { role: 'user' as const, content: 'Weather?' };
    const asking = rig.client.chat.completions.create({ ...common, messages: [question] });
    const first = await rig.model.call(0);
    first.say('Let me look.');
    first.askFor({ name: 'weather' });
    const [choice] = (await asking).choices;
    if (!choice) throw new Error('there is no choice');
    const id = choice.message.tool_calls?.[0]?.id ?? '';
    const messages = [
      question,
      choice.message,
      { role: 'tool' as const, tool_call_id: id, content: 'sunny' },
    ];
    const ask = () => {
      const stream = rig.client.chat.completions.stream(
        { ...common, messages, stream_options: { include_usage: true } },
        { headers: { 'Idempotency-Key': 'k1' } },
      );
      const begun = new Promise((resolve) => stream.once('chunk', resolve));
      return { begun, reply: stream.finalChatCompletion() };
    };
    const one = ask();
    const second = await rig.model.call(1);
    second.say('Sunny, it seems.');
    second.askFor({ name: 'look' });
    // The agent's own tool runs.
    const look = await rig.tools.call(0);
    const two = ask();
    await two.begun;
    look.answer('sun');
    (await rig.model.call(2)).answer('Yes, ', 'sunny.');
    const text = 'Sunny, it seems.\n\nYes, sunny.';
    for (const { reply } of [one, two])
      expect((await reply).choices).toMatchObject([{ finish_reason: 'stop', message: { content: text } }]);
  });
});
