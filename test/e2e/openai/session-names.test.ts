import { describe, expect } from 'vitest';
import { bearer, identity, KnownTokens } from '../../support/access/known-tokens.ts';
import { DirectedModel } from '../../support/models/directed-model.ts';
import { RunningService } from '../../support/service/running-service.ts';
import { verifies } from '../requirements.ts';

const YAML = JSON.stringify({
  llm: { provider: 'scripted', model: 'offline' },
  server: { drainTimeoutMs: 0 },
  limits: { requestsPerMinute: false },
});
const model = 'default';
const parameters = { type: 'object' };
const NAMES = ['trip', 'acme/test:ada/trip'] as const;

async function start() {
  const directed = new DirectedModel();
  const verifiers = [new KnownTokens({ ada: identity('ada') })];
  const service = await RunningService.start({ yaml: YAML, adapters: { model: directed }, verifiers });
  const post = async (path: string, body: object, more: Record<string, string> = {}) => {
    const answer = await service.post(path, { model, ...body }, { ...bearer('ada'), ...more });
    return { code: answer.status, body: Object(await answer.json()) };
  };
  return { model: directed, post, [Symbol.asyncDispose]: () => service.close() };
}

/** Has the model called by a message of this text, and answered. */
async function answered<T>({ model: directed }: Awaited<ReturnType<typeof start>>, text: string, asking: T) {
  const call = await directed.callFor(text);
  const results = call.request.messages.filter(({ role }) => role === 'tool');
  expect(results).toMatchObject([{ text: 'sunny' }]);
  call.answer('Sunny.');
  return asking;
}

describe('a session that its client calls by its short name and by its whole id', () => {
  for (const [first, second] of [NAMES, NAMES.toReversed()] as const) {
    if (first === undefined || second === undefined) throw new Error('there are two names');

    verifies('openai.session', `takes results and a message (chat, ${first})`, async () => {
      await using rig = await start();
      const tools = [{ type: 'function', function: { name: 'weather', parameters } }];
      const chat = (messages: object[], name: string) =>
        rig.post('/v1/chat/completions', { messages, tools }, { 'X-Session-Id': name });
      const asking = chat([{ role: 'user', content: 'Weather?' }], first);
      (await rig.model.callFor('Weather?')).askFor({ name: 'weather', callId: 'w1' });
      const tool_call_id: string = (await asking).body.choices[0].message.tool_calls[0].id;
      expect(tool_call_id).toBe(`w1~${first}`);
      const messages = [
        { role: 'tool', tool_call_id, content: 'sunny' },
        { role: 'user', content: 'Be quick.' },
      ];
      expect(await answered(rig, 'Be quick.', chat(messages, second))).toMatchObject({ code: 200 });
    });

    verifies(
      'openai.responses-conversation',
      `takes results and a message (response, ${first})`,
      async () => {
        await using rig = await start();
        const tools = [{ type: 'function', name: 'weather', parameters }];
        const create = (more: object) => rig.post('/v1/responses', { tools, ...more });
        const asking = create({ conversation: first, input: 'Weather?' });
        (await rig.model.callFor('Weather?')).askFor({ name: 'weather', callId: 'w1' });
        const { id, output } = (await asking).body;
        const call_id: string = output[0].call_id;
        const following = (text: string, named: string) => [
          { type: 'function_call_output', call_id: call_id.replace(first, named), output: 'sunny' },
          { role: 'user', content: text },
        ];
        const inSession = create({ conversation: second, input: following('Be quick.', first) });
        const quick = await answered(rig, 'Be quick.', inSession);
        expect(quick).toMatchObject({ code: 200 });
        // Its place is taken: the turn is told again to the model, up to the call.
        const again = create({ previous_response_id: id, input: following('Or else?', second) });
        expect(await answered(rig, 'Or else?', again)).toMatchObject({ code: 200 });
        const reference = { type: 'item_reference', id: quick.body.output[0].id };
        const later = create({
          conversation: second,
          input: [reference, { role: 'user', content: 'Sure?' }],
        });
        const call = await rig.model.callFor('Sure?');
        const said = call.request.messages.filter(({ role }) => role === 'assistant');
        expect(JSON.stringify(said).match(/Sunny\./g)).toHaveLength(1);
        call.answer('Yes.');
        expect(await later).toMatchObject({ code: 200 });
      },
    );
  }
});
