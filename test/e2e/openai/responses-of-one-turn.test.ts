import OpenAI from 'openai';
import { describe, expect } from 'vitest';
import { DirectedModel } from '../../support/models/directed-model.ts';
import { RunningService } from '../../support/service/running-service.ts';
import { verifies } from '../requirements.ts';

const YAML = JSON.stringify({
  llm: { provider: 'scripted', model: 'offline' },
  server: { drainTimeoutMs: 0 },
  limits: { requestsPerMinute: false },
});
const model = 'default';
const weather: OpenAI.Responses.FunctionTool = {
  type: 'function',
  name: 'weather',
  parameters: { type: 'object' },
  strict: false,
};

async function start() {
  const directed = new DirectedModel();
  const service = await RunningService.start({ yaml: YAML, adapters: { model: directed } });
  const client = new OpenAI({ baseURL: `http://127.0.0.1:${service.port}/v1`, apiKey: 'none' });
  return { model: directed, client, [Symbol.asyncDispose]: () => service.close() };
}

type Rig = Awaited<ReturnType<typeof start>>;

/** Two responses of one turn: the first asks for the weather, and the second, which runs, has got it. */
async function twoResponses({ client, model: directed }: Rig) {
  const asking = client.responses.create({ model, input: 'Weather?', tools: [weather] });
  (await directed.call(0)).askFor({ name: 'weather' });
  const first = await asking;
  const [item] = first.output;
  if (item?.type !== 'function_call') throw new Error('there is no call');
  const second = await client.responses.create({
    model,
    tools: [weather],
    previous_response_id: first.id,
    background: true,
    input: [{ type: 'function_call_output', call_id: item.call_id, output: 'sunny' }],
  });
  return { first, second, running: await directed.call(1) };
}

describe('two responses of one turn', () => {
  verifies(
    'openai.responses-background',
    'and goes on when one before it in its turn is cancelled',
    async () => {
      await using rig = await start();
      const { first, second, running } = await twoResponses(rig);
      expect(await rig.client.responses.cancel(first.id)).toMatchObject({
        id: first.id,
        status: 'completed',
        output: first.output,
      });
      expect(await rig.client.responses.retrieve(second.id)).toMatchObject({ status: 'in_progress' });
      expect(running.signal.aborted).toBe(false);
      expect(await rig.client.responses.cancel(second.id)).toMatchObject({ status: 'cancelled' });
    },
  );

  verifies(
    'openai.responses-follow',
    'and in one turn, only the last one can be deleted, with those before it',
    async () => {
      await using rig = await start();
      const { first, second, running } = await twoResponses(rig);
      const refused = { status: 400, param: 'response_id' };
      await expect(rig.client.responses.delete(first.id)).rejects.toMatchObject(refused);
      running.answer('Sunny.');
      await expect
        .poll(() => rig.client.responses.retrieve(second.id))
        .toMatchObject({ status: 'completed', output_text: 'Sunny.' });
      await expect(rig.client.responses.delete(first.id)).rejects.toMatchObject(refused);
      await rig.client.responses.delete(second.id);
      await expect(rig.client.responses.retrieve(first.id)).rejects.toMatchObject({ status: 404 });
    },
  );
});
