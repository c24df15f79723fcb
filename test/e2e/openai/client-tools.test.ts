import OpenAI from 'openai';
import { describe, expect } from 'vitest';
import { connect } from '../../../src/client/session-client.ts';
import { DirectedModel } from '../../support/models/directed-model.ts';
import { RunningService, type ServiceOptions } from '../../support/service/running-service.ts';
import { tempDirectory } from '../../support/service/temp-directory.ts';
import { viewOf } from '../../support/sessions/session-api.ts';
import { RecordingSocket } from '../../support/sockets/recording-socket.ts';
import { verifies } from '../requirements.ts';

const YAML = JSON.stringify({
  llm: { provider: 'scripted', model: 'offline' },
  server: { drainTimeoutMs: 0 },
  limits: { requestsPerMinute: false },
});
const weather: OpenAI.ChatCompletionFunctionTool = {
  type: 'function',
  function: {
    name: 'weather',
    description: 'The weather of a city.',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
};
const lent = [{ name: 'weather', inputSchema: { type: 'object' } }];
const user = (content: string) => ({ role: 'user' as const, content });

async function start(options: ServiceOptions = {}) {
  const model = new DirectedModel();
  const service = await RunningService.start({ yaml: YAML, adapters: { model }, ...options });
  const client = new OpenAI({ baseURL: `http://127.0.0.1:${service.port}/v1`, apiKey: 'none' });
  return { model, service, client, [Symbol.asyncDispose]: () => service.close() };
}

type Rig = Awaited<ReturnType<typeof start>>;

/** Asks with the tool, and lets the model call it. */
async function called({ client, model }: Rig, messages: OpenAI.ChatCompletionMessageParam[], call = 0) {
  const asked = client.chat.completions.create({ model: 'default', messages, tools: [weather] });
  (await model.call(call)).askFor({ name: 'weather', callId: 'w1', arguments: { city: 'Rome' } });
  const [choice] = (await asked).choices;
  if (!choice) throw new Error('there is no choice');
  const id = choice.message.tool_calls?.[0]?.id ?? '';
  return { choice, id };
}

describe('tools of an OpenAI client', () => {
  verifies(
    'openai.tools',
    'results are for the session that the client names, and not for the one that it was forked from',
    async () => {
      await using rig = await start();
      const { service, client, model } = rig;
      const question = user('Weather in Rome?');
      const named = (id: string) => ({ headers: { 'X-Session-Id': id } });
      const asked = client.chat.completions.create(
        { model: 'default', messages: [question], tools: [weather] },
        named('b'),
      );
      (await model.call(0)).askFor({ name: 'weather', callId: 'w1', arguments: { city: 'Rome' } });
      const said = (await asked).choices[0]?.message;
      if (!said) throw new Error('there is no choice');
      expect((await service.post('/api/sessions/b/fork', { sessionId: 'a' })).status).toBe(200);
      const id = said.tool_calls?.[0]?.id ?? '';
      const messages = [question, said, { role: 'tool' as const, tool_call_id: id, content: 'sunny' }];
      await expect(
        client.chat.completions.create({ model: 'default', messages, tools: [weather] }, named('a')),
      ).rejects.toMatchObject({ status: 404, code: 'call_not_found' });
      expect(await viewOf(service, 'b')).toMatchObject({ clientCalls: [{ callId: 'w1' }] });
      expect(model.calls).toHaveLength(1);
    },
  );

  verifies('openai.tools', async () => {
    await using rig = await start();
    const { choice, id } = await called(rig, [user('Weather in Rome?')]);
    expect(choice).toMatchObject({
      finish_reason: 'tool_calls',
      message: {
        content: null,
        tool_calls: [{ type: 'function', function: { name: 'weather', arguments: '{"city":"Rome"}' } }],
      },
    });
    const history: OpenAI.ChatCompletionMessageParam[] = [
      user('Weather in Rome?'),
      choice.message,
      { role: 'tool', tool_call_id: id, content: 'sunny' },
    ];
    const next = rig.client.chat.completions.create({
      model: 'default',
      messages: history,
      tools: [weather],
    });
    const second = await rig.model.call(1);
    expect(second.request.messages).toMatchObject([
      { text: 'Weather in Rome?' },
      { parts: [{ type: 'toolCall', callId: 'w1', name: 'weather' }] },
      { role: 'tool', callId: 'w1', text: 'sunny' },
    ]);
    second.answer('It is sunny.');
    const reply = await next;
    expect(reply.choices[0]).toMatchObject({
      finish_reason: 'stop',
      message: { content: 'It is sunny.' },
    });
    const { sessions } = Object(await (await rig.service.fetch('/api/sessions')).json());
    expect(sessions).toHaveLength(1);
  });

  verifies('openai.tools', 'streamed, two at once, and the next answer has only what is new', async () => {
    await using rig = await start();
    const stream = rig.client.chat.completions.stream({
      model: 'default',
      messages: [user('Weather in Rome and Oslo?')],
      tools: [weather],
    });
    const call = await rig.model.call(0);
    call.say('Let me look.');
    call.askFor(
      { name: 'weather', callId: 'w1', arguments: { city: 'Rome' } },
      { name: 'weather', callId: 'w2', arguments: { city: 'Oslo' } },
    );
    const first = (await stream.finalChatCompletion()).choices[0];
    expect(first).toMatchObject({ finish_reason: 'tool_calls', message: { content: 'Let me look.' } });
    const calls = first?.message.tool_calls ?? [];
    expect(calls).toMatchObject([
      { function: { name: 'weather', arguments: '{"city":"Rome"}' } },
      { function: { name: 'weather', arguments: '{"city":"Oslo"}' } },
    ]);
    const results = calls.map(({ id }) => ({ role: 'tool' as const, tool_call_id: id, content: 'wet' }));
    const next = rig.client.chat.completions.stream({
      model: 'default',
      messages: [user('Weather in Rome and Oslo?'), { role: 'assistant', tool_calls: calls }, ...results],
      tools: [weather],
    });
    const pieces: string[] = [];
    next.on('content', (delta) => pieces.push(delta));
    (await rig.model.call(1)).answer('Wet', ' in both.');
    expect(await next.finalContent()).toBe('Wet in both.');
    expect(pieces.join('')).toBe('Wet in both.');
  });

  verifies('openai.tools', 'with the tool runner of the SDK', async () => {
    await using rig = await start();
    const seen: unknown[] = [];
    const runner = rig.client.chat.completions.runTools({
      model: 'default',
      messages: [user('Weather in Rome?')],
      tools: [
        {
          type: 'function',
          function: {
            name: 'weather',
            description: 'The weather of a city.',
            parameters: { type: 'object' },
            parse: (text: string): object => JSON.parse(text),
            function: (args: object) => {
              seen.push(args);
              return 'sunny';
            },
          },
        },
      ],
    });
    const answering = (async () => {
      (await rig.model.call(0)).askFor({ name: 'weather', arguments: { city: 'Rome' } });
      (await rig.model.call(1)).answer('It is sunny.');
    })();
    expect(await runner.finalContent()).toBe('It is sunny.');
    await answering;
    expect(seen).toEqual([{ city: 'Rome' }]);
  });

  verifies(
    'openai.tools',
    'also where the user says something else behind the results, in a session that the client has named',
    async () => {
      await using rig = await start();
      const { client, model } = rig;
      const ask = (messages: OpenAI.ChatCompletionMessageParam[]) =>
        client.chat.completions.create(
          { model: 'default', messages, tools: [weather] },
          { headers: { 'X-Session-Id': 'trip' } },
        );
      const first = ask([user('Weather in Rome?')]);
      const asked = await model.call(0);
      const of = { name: 'weather', arguments: { city: 'Rome' } };
      asked.askFor({ ...of, callId: 'w1' }, { ...of, callId: 'w2' });
      const [choice] = (await first).choices;
      if (!choice) throw new Error('there is no choice');
      const [one, two] = choice.message.tool_calls ?? [];
      const result = (call = one, content = 'sunny') => ({
        role: 'tool' as const,
        tool_call_id: call?.id ?? '',
        content,
      });
      const said = [user('Weather in Rome?'), choice.message];
      await expect(ask([...said, result(), user('Be quick.')])).rejects.toMatchObject({ status: 400 });
      const next = ask([...said, result(), result(two, 'rainy'), user('Be quick.')]);
      const going = await model.callFor('Be quick.');
      const results = going.request.messages.filter(({ role }) => role === 'tool');
      expect(results).toMatchObject([{ text: 'sunny' }, { text: 'rainy' }]);
      going.answer('Sun and rain.');
      expect((await next).choices[0]?.message.content).toBe('Sun and rain.');
    },
  );

  verifies('openai.tools', 'also where instructions stand behind the results', async () => {
    await using rig = await start();
    const { choice, id } = await called(rig, [user('Weather in Rome?')]);
    const next = rig.client.chat.completions.create({
      model: 'default',
      tools: [weather],
      messages: [
        ...[user('Weather in Rome?'), choice.message],
        { role: 'tool', tool_call_id: id, content: 'sunny' },
        { role: 'system', content: 'Be brief.' },
      ],
    });
    (await rig.model.call(1)).answer('Sunny.');
    expect((await next).choices[0]?.message.content).toBe('Sunny.');
  });

  verifies('openai.tools-restart', async () => {
    await using folder = await tempDirectory();
    let asked: Awaited<ReturnType<typeof called>>;
    {
      await using rig = await start({ dataDir: folder.path });
      asked = await called(rig, [user('Weather in Rome?')]);
    }
    await using rig = await start({ dataDir: folder.path });
    const { choice, id } = asked;
    const messages: OpenAI.ChatCompletionMessageParam[] = [
      user('Weather in Rome?'),
      choice.message,
      { role: 'tool', tool_call_id: id, content: 'sunny' },
    ];
    const next = rig.client.chat.completions.create({ model: 'default', messages, tools: [weather] });
    (await rig.model.call(0)).answer('It is sunny.');
    expect((await next).choices[0]?.message.content).toBe('It is sunny.');
    const { sessions } = Object(await (await rig.service.fetch('/api/sessions')).json());
    expect(sessions).toHaveLength(1);
  });

  verifies('openai.tools-given', async () => {
    await using rig = await start();
    const call = { id: 'call_1', type: 'function' as const, function: { name: 'weather', arguments: '{}' } };
    const messages: OpenAI.ChatCompletionMessageParam[] = [
      user('Weather in Rome?'),
      { role: 'assistant', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call_1', content: 'sunny' },
    ];
    const asked = rig.client.chat.completions.create({ model: 'default', messages, tools: [weather] });
    const first = await rig.model.call(0);
    expect(first.request.messages).toMatchObject([
      { role: 'user', text: 'Weather in Rome?' },
      { role: 'assistant', parts: [{ callId: 'call_1' }] },
      { role: 'tool', callId: 'call_1', text: 'sunny' },
    ]);
    first.answer('It is sunny.');
    expect((await asked).choices[0]?.message.content).toBe('It is sunny.');
  });

  verifies('openai.tools-given', 'and a reply is written again', async () => {
    await using rig = await start();
    const { choice, id } = await called(rig, [user('Weather in Rome?')]);
    const messages: OpenAI.ChatCompletionMessageParam[] = [
      user('Weather in Rome?'),
      choice.message,
      { role: 'tool', tool_call_id: id, content: 'sunny' },
    ];
    const ask = () => rig.client.chat.completions.create({ model: 'default', messages, tools: [weather] });
    const one = ask();
    (await rig.model.call(1)).answer('It is sunny.');
    await one;
    const again = ask();
    (await rig.model.call(2)).answer('Sunny it is.');
    expect((await again).choices[0]?.message.content).toBe('Sunny it is.');
  });

  verifies('openai.tools-refused', async () => {
    await using rig = await start();
    const refused = async (more: object) => {
      const body = { model: 'default', messages: [user('hello')], ...more };
      const response = await rig.service.post('/v1/chat/completions', body);
      return { status: response.status, ...Object(await response.json()).error };
    };
    expect(await refused({ tools: [weather, weather] })).toMatchObject({ status: 400, param: 'tools.1' });
    expect(await refused({ tools: [{ type: 'web_search' }] })).toMatchObject({
      status: 400,
      param: 'tools.0.type',
    });
    const other = { type: 'function', function: { name: 'other' } };
    expect(await refused({ tools: [weather], tool_choice: other })).toMatchObject({
      status: 400,
      param: 'tool_choice',
    });
    expect(rig.model.calls).toHaveLength(0);
  });
});

describe('tools of a client of our own interface', () => {
  verifies('client-tools.websocket', async () => {
    await using rig = await start();
    using socket = new RecordingSocket(`ws://127.0.0.1:${rig.service.port}/?session=page`);
    await socket.opened;
    socket.send({ type: 'message', content: 'Weather?', clientTools: lent });
    (await rig.model.call(0)).askFor({ name: 'weather', callId: 'w1', arguments: { city: 'Rome' } });
    await socket.until('clientToolCall');
    expect(socket.frames.at(-1)).toMatchObject({
      event: 'clientToolCall',
      data: { callId: 'w1', toolName: 'weather', arguments: { city: 'Rome' } },
    });
    const { clientCalls } = await viewOf(rig.service, 'page');
    expect(clientCalls).toMatchObject([{ callId: 'w1', toolName: 'weather' }]);
    socket.send({ type: 'toolResult', callId: 'w1', content: 'sunny' });
    const second = await rig.model.call(1);
    expect(second.request.messages.at(-1)).toMatchObject({ role: 'tool', text: 'sunny' });
    second.answer('Sunny.');
    await socket.until('response');
  });

  verifies('client-tools.websocket', 'with the TypeScript client', async () => {
    await using rig = await start();
    using session = connect({ url: `http://127.0.0.1:${rig.service.port}`, session: 'program' });
    const outputSchema = { type: 'object', properties: { sky: { type: 'string' } }, required: ['sky'] };
    const asked = session.ask('Weather?', { clientTools: [{ name: 'weather' }], outputSchema });
    (await rig.model.call(0)).askFor(
      { name: 'weather', callId: 'w1', arguments: { city: 'Rome' } },
      { name: 'weather', callId: 'w2', arguments: { city: 'Oslo' } },
    );
    const answers = [{ content: 'no idea', isError: true }, 'sunny'];
    for await (const { event, data } of session) {
      if (event === 'clientToolCall') await session.answerCall(data.callId, answers.pop() ?? '');
      if (answers.length === 0) break;
    }
    await expect(session.answerCall('w1', 'again')).rejects.toMatchObject({ code: 'CALL_NOT_FOUND' });
    const second = await rig.model.call(1);
    expect(second.request.messages.slice(-2)).toMatchObject([
      { role: 'tool', callId: 'w1', text: 'sunny' },
      { role: 'tool', callId: 'w2', text: 'The tool failed: no idea' },
    ]);
    second.answer('{"sky":"sunny"}');
    expect(await asked).toBe('{"sky":"sunny"}');
  });

  verifies('client-tools.rest', async () => {
    await using rig = await start();
    const sync = rig.service.post('/api/message-sync', {
      message: 'Weather?',
      sessionId: 'r',
      clientTools: lent,
    });
    const events = new AbortController();
    const stream = await rig.service.fetch('/api/sessions/r/events', {
      headers: { Accept: 'text/event-stream' },
      signal: events.signal,
    });
    (await rig.model.call(0)).askFor({ name: 'weather', callId: 'w1' });
    let text = '';
    for await (const piece of stream.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += piece;
      if (text.includes('clientToolCall')) break;
    }
    const answer = (callId: string) =>
      rig.service.post(`/api/sessions/r/calls/${callId}`, { content: 'no idea', isError: true });
    expect((await answer('w2')).status).toBe(404);
    const answered = await answer('w1');
    expect(await answered.json()).toMatchObject({ status: 'answered', sessionId: 'r', callId: 'w1' });
    expect((await answer('w1')).status).toBe(404);
    const second = await rig.model.call(1);
    expect(second.request.messages.at(-1)).toMatchObject({ text: 'The tool failed: no idea' });
    second.answer('I cannot know.');
    expect(await (await sync).json()).toMatchObject({ success: true, response: 'I cannot know.' });
  });
});
