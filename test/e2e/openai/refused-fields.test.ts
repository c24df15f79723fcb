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
const parameters = { type: 'object' };
const weather = { type: 'function', name: 'weather', parameters };
const chatWeather = { type: 'function', function: { name: 'weather', parameters } };
const user = (content: unknown) => ({ role: 'user', content });
const output = (call_id: string) => ({ type: 'function_call_output', call_id, output: 'sunny' });
const result = (tool_call_id: string) => ({ role: 'tool', tool_call_id, content: 'sunny' });
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

class Rig implements AsyncDisposable {
  readonly model: DirectedModel;
  readonly #service: RunningService;

  private constructor(service: RunningService, directed: DirectedModel) {
    this.#service = service;
    this.model = directed;
  }

  static async start(): Promise<Rig> {
    const directed = new DirectedModel();
    return new Rig(await RunningService.start({ yaml: YAML, adapters: { model: directed } }), directed);
  }

  async chat(more: object, headers: Record<string, string> = {}) {
    const body = { model, tools: [chatWeather], ...more };
    return this.#answer(await this.#service.post('/v1/chat/completions', body, headers));
  }

  async response(more: object) {
    return this.#answer(await this.#service.post('/v1/responses', { model, tools: [weather], ...more }));
  }

  async #answer(response: Response) {
    const body: object = Object(await response.json());
    return { ...body, status: response.status };
  }

  /** Lets the model ask for the weather of two cities. @returns the answer to the client. */
  async calls<T>(asking: Promise<T>): Promise<T> {
    const call = await this.model.callFor('Weather?');
    call.askFor({ name: 'weather', callId: 'w1' }, { name: 'weather', callId: 'w2' });
    return asking;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#service.close();
  }
}

/** The message of an answer, and the ids of its calls. */
function calledIn(completion: object) {
  const { message } = Object(completion).choices[0];
  const [one = '', two = ''] = message.tool_calls.map(({ id }: { id: string }) => id);
  return { message, one, two };
}

function refused(param: string, message = '') {
  return { status: 400, error: { param, message: expect.stringContaining(message) } };
}

describe('a refused request of OpenAI names the field as the client has sent it', () => {
  verifies('openai.responses-errors', '(response)', async () => {
    await using rig = await Rig.start();
    const call = (args: string) => ({
      type: 'function_call',
      call_id: 'c',
      name: 'weather',
      arguments: args,
    });
    const image = (image_url: string) => [user([{ type: 'input_image', image_url }])];
    const reference = async () => {
      const asking = rig.response({ input: 'first' });
      (await rig.model.callFor('first')).answer('Yes.');
      const answered = Object(await asking);
      const input = [{ type: 'item_reference', id: answered.output[0].id }, call('{bad')];
      return { input, previous_response_id: answered.id };
    };
    const schema = { format: { type: 'json_schema', name: 'f', schema: { type: 'nothing' } } };
    const wrong: [string, object][] = [
      ['input.1.arguments', { input: [user('hi'), call('[1]'), output('c')] }],
      ['input.2.arguments', { input: [{ role: 'assistant', content: 'hi' }, call('{}'), call('{bad')] }],
      ['input.1.call_id', { input: [user('hi'), output('c')] }],
      ['input.0.content.0.image_url', { input: image('https://example.com/a.png') }],
      ['input.0.content.0.image_url', { input: image(`data:image/tiff;base64,${PNG}`) }],
      ['input.0.content.0.image_url', { input: image('data:image/png;base64,not') }],
      ['input.0.content.0.image_url', { input: image(`data:image/jpeg;base64,${PNG}`) }],
      [
        'input.1.encrypted_content',
        { input: [user('hi'), { type: 'compaction', encrypted_content: 'Zm9' }] },
      ],
      ['text.format.schema', { input: 'hi', text: schema }],
      ['input.1.arguments', await reference()],
    ];
    for (const [param, more] of wrong) expect(await rig.response(more)).toMatchObject(refused(param));
    expect(rig.model.calls).toHaveLength(1);
  });

  verifies('openai.errors', '(chat)', async () => {
    await using rig = await Rig.start();
    const image = (url: string) => ({ messages: [user([{ type: 'image_url', image_url: { url } }])] });
    const at = 'messages.0.content.0.image_url.url';
    const json_schema = { name: 'f', schema: { type: 'nothing' } };
    const wrong: [string, object][] = [
      [at, image(`data:image/tiff;base64,${PNG}`)],
      [at, image('data:image/png;base64,not')],
      [at, image(`data:image/jpeg;base64,${PNG}`)],
      [
        'response_format.json_schema.schema',
        { messages: [user('hi')], response_format: { type: 'json_schema', json_schema } },
      ],
      ['messages.1.tool_call_id', { messages: [user('hi'), result('c')] }],
    ];
    for (const [param, more] of wrong) expect(await rig.chat(more)).toMatchObject(refused(param));
    expect(rig.model.calls).toHaveLength(0);
    const jpeg = Buffer.from('\xff\xd8\xff\xe0', 'latin1').toString('base64');
    const asking = rig.chat(image(`data:image/jpg;base64,${jpeg}`));
    const call = await rig.model.call(0);
    expect(call.request.messages).toMatchObject([{ images: [{ mimeType: 'image/jpeg' }] }]);
    call.answer('A picture.');
    expect(await asking).toMatchObject({ status: 200 });
  });

  verifies('openai.responses-tools', 'and each call needs one result (response)', async () => {
    await using rig = await Rig.start();
    const conversation = 'trip';
    const first = Object(await rig.calls(rig.response({ conversation, input: 'Weather?' })));
    const [one = '', two = ''] = first.output.map(({ call_id }: { call_id: string }) => call_id);
    const follow = (...input: unknown[]) => rig.response({ conversation, input });
    const missing = refused('input', `No tool output found for function call ${two}.`);
    expect(await follow(output(one), user('Be quick.'))).toMatchObject(missing);
    expect(await follow(output(one))).toMatchObject(missing);
    expect(await follow(output(one), output(two), output(one))).toMatchObject(refused('input.2.call_id'));
    expect(await follow(output(one), output(one), user('And?'))).toMatchObject(refused('input.1.call_id'));
    const last = follow(output(one), output(two));
    (await rig.model.call(1)).answer('Sunny.');
    expect(await last).toMatchObject({ status: 200 });
  });

  verifies('openai.tools', 'and each call needs one result (chat)', async () => {
    await using rig = await Rig.start();
    const first = await rig.calls(rig.chat({ messages: [user('Weather?')] }));
    const { message, one, two } = calledIn(first);
    const follow = (...more: unknown[]) => rig.chat({ messages: [user('Weather?'), message, ...more] });
    const missing = refused('messages', `The result of the tool call ${two} is missing.`);
    expect(await follow(result(one))).toMatchObject(missing);
    expect(await follow(result(one), result(two), result(one))).toMatchObject(
      refused('messages.4.tool_call_id'),
    );
    const results = [result(one), result(two)];
    const next = follow(...results);
    (await rig.model.call(1)).askFor({ name: 'weather', callId: 'w3' });
    expect(await next).toMatchObject({ status: 200 });
    // A client that got no answer sends them again, and hears of the call that waits now.
    expect(await follow(...results)).toMatchObject({ status: 200, choices: Object(await next).choices });
    expect(rig.model.calls).toHaveLength(2);
  });

  verifies('openai.session', 'and the refusal names the call as its client knows it', async () => {
    await using rig = await Rig.start();
    const named = { 'X-Session-Id': 'trip' };
    const { one, two } = calledIn(await rig.calls(rig.chat({ messages: [user('Weather?')] }, named)));
    for (const messages of [[user('Be quick.')], [result(one), user('Be quick.')]])
      expect(await rig.chat({ messages }, named)).toMatchObject({
        error: { param: 'messages', details: { callId: expect.stringMatching(/^w[12]~trip$/) } },
      });
    expect(two).toBe('w2~trip');
  });
});
