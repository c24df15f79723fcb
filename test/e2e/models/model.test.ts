import { describe, expect } from 'vitest';
import { textReply, toolCallReply } from '../../support/models/openai-upstream.ts';
import { RunningService } from '../../support/service/running-service.ts';
import { KEY, SYSTEM_PROMPT, UpstreamService } from '../../support/service/upstream-service.ts';
import { scriptableServer } from '../../support/tools/mcp/tool-servers.ts';
import { verifies } from '../requirements.ts';

const PROMPT = 'prompt-of-the-user-7c1b';

describe('an OpenAI-compatible upstream', () => {
  verifies('model.stream', async () => {
    await using setup = await UpstreamService.open({ temperature: 0.5 });
    const { upstream, service } = setup;
    using client = await service.connect();
    const gate = Promise.withResolvers<void>();
    upstream.replyWith({
      stream: [
        { text: 'Hel' },
        { text: 'lo ' },
        { gate: gate.promise },
        { text: 'wörld 🌍' },
        { finish: 'stop' },
        { usage: { prompt_tokens: 7, completion_tokens: 3 } },
        { done: true },
      ],
    });
    client.say(PROMPT);
    // Both pieces are here while the upstream is still in the middle of its answer.
    const early = await client.until((frames) => frames.length === 3);
    expect(early.slice(1)).toEqual([
      { event: 'chunk', data: { content: 'Hel' } },
      { event: 'chunk', data: { content: 'lo ' } },
    ]);
    gate.resolve();
    expect((await client.settled()).slice(3)).toEqual([
      { event: 'chunk', data: { content: 'wörld 🌍' } },
      { event: 'response', data: { content: 'Hello wörld 🌍' } },
    ]);
    const { path, headers, body } = await upstream.request(0);
    expect(path).toBe('/v1/chat/completions');
    expect(headers.authorization).toBe(`Bearer ${KEY}`);
    expect(body).toEqual({
      model: 'gpt-test',
      stream: true,
      stream_options: { include_usage: true },
      temperature: 0.5,
      messages: [
        { role: 'system', content: SYSTEM_PROMPT },
        { role: 'user', content: PROMPT },
      ],
    });
  });

  verifies('model.stream', 'a round trip through a real tool server', async () => {
    await using setup = await UpstreamService.open({}, { mcpServers: { tools: scriptableServer() } });
    const { upstream, service } = setup;
    using client = await service.connect();
    upstream.replyWith(
      toolCallReply(
        [
          { id: 'call_a', name: 'echo', arguments: { message: 'says "hi" – ünïcode' } },
          { id: 'call_b', name: 'add', arguments: { a: 20, b: 22 } },
        ],
        { text: 'Let me see.' },
      ),
      textReply('It is ', '42.'),
    );
    client.say('add them');
    const frames = await client.settled();
    expect(frames.at(-1)).toEqual({ event: 'response', data: { content: 'Let me see.\n\nIt is 42.' } });
    const place = { toolName: 'echo', serverId: 'tools' };
    expect(frames).toContainEqual({
      event: 'toolCall',
      data: { ...place, callId: 'call_a', arguments: { message: 'says "hi" – ünïcode' } },
    });
    expect(frames).toContainEqual({
      event: 'toolResult',
      data: {
        ...place,
        callId: 'call_a',
        result: { content: [{ type: 'text', text: 'says "hi" – ünïcode' }] },
      },
    });
    const [first, second] = [await upstream.request(0), await upstream.request(1)];
    expect(first.body.tools?.map((tool) => tool.function.name)).toEqual(
      expect.arrayContaining(['echo', 'add', 'fail']),
    );
    expect(first.body.tools?.find((tool) => tool.function.name === 'echo')).toEqual({
      type: 'function',
      function: {
        name: 'echo',
        description: 'Says the message.',
        parameters: expect.objectContaining({ type: 'object', required: ['message'] }),
      },
    });
    const call = (id: string, name: string, args: object) => ({
      id,
      type: 'function',
      function: { name, arguments: JSON.stringify(args) },
    });
    expect(second.body.messages.slice(0, 3)).toEqual([
      { role: 'system', content: SYSTEM_PROMPT },
      { role: 'user', content: 'add them' },
      {
        role: 'assistant',
        content: 'Let me see.',
        tool_calls: [
          call('call_a', 'echo', { message: 'says "hi" – ünïcode' }),
          call('call_b', 'add', { a: 20, b: 22 }),
        ],
      },
    ]);
    const results = second.body.messages.slice(3);
    expect(results).toHaveLength(2);
    expect(results).toContainEqual({
      role: 'tool',
      tool_call_id: 'call_a',
      content: 'says "hi" – ünïcode',
    });
    expect(results).toContainEqual({ role: 'tool', tool_call_id: 'call_b', content: '42' });
  });

  verifies('model.stream', 'an image is sent as a data: URL', async () => {
    await using setup = await UpstreamService.open();
    const { upstream, service } = setup;
    using client = await service.connect();
    const base64 = Buffer.from('not really a picture').toString('base64');
    client.say('over WebSocket', { imageData: { base64, mimeType: 'image/webp' } });
    await client.settled();
    const imageData = { base64, mimeType: 'image/jpeg' };
    await service.post('/api/message-sync', { message: 'over REST', imageData, sessionId: 'rest' });
    const contents = [0, 1].map(async (index) => (await upstream.request(index)).body.messages.at(-1));
    expect(await Promise.all(contents)).toEqual(
      (
        [
          ['over WebSocket', 'image/webp'],
          ['over REST', 'image/jpeg'],
        ] as const
      ).map(([text, mimeType]) => ({
        role: 'user',
        content: [
          { type: 'text', text },
          { type: 'image_url', image_url: { url: `data:${mimeType};base64,${base64}` } },
        ],
      })),
    );
  });

  verifies('model.stream', 'the history goes with every message', async () => {
    await using setup = await UpstreamService.open();
    const { upstream, service } = setup;
    using client = await service.connect();
    upstream.replyWith(textReply('1'), textReply('2'));
    client.say('one');
    await client.settled();
    const sync = await service.post('/api/message-sync', { message: 'two' });
    expect(await sync.json()).toMatchObject({ success: true, response: '2' });
    client.say('three');
    await client.settled(3);
    expect((await upstream.request(2)).body.messages).toEqual([
      { role: 'system', content: SYSTEM_PROMPT },
      { role: 'user', content: 'one' },
      { role: 'assistant', content: '1' },
      { role: 'user', content: 'two' },
      { role: 'assistant', content: '2' },
      { role: 'user', content: 'three' },
    ]);
  });

  verifies('model.stream', 'a reset ends the request', async () => {
    await using setup = await UpstreamService.open();
    const { upstream, service } = setup;
    using client = await service.connect();
    upstream.replyWith({ stream: [{ text: 'Once upon' }, { hang: true }] }, textReply('Hi.'));
    client.say('tell me a story');
    await client.until((frames) => frames.length === 2);
    client.send({ type: 'reset' });
    // The request is given up, and so is the money it would cost.
    await (await upstream.request(0)).aborted;
    client.say('hello');
    expect((await client.settled(2)).at(-1)).toEqual({ event: 'response', data: { content: 'Hi.' } });
  });
});

describe('a model that never stops asking for tools', () => {
  verifies('model.steps', async () => {
    await using setup = await UpstreamService.open(
      { maxSteps: 3 },
      { mcpServers: { tools: scriptableServer() } },
    );
    const { upstream, service } = setup;
    upstream.otherwise = ({ body }) =>
      toolCallReply([{ id: `call_${body.messages.length}`, name: 'echo', arguments: { message: 'again' } }]);
    using client = await service.connect();
    client.say('go');
    const frames = await client.settled();
    expect(frames.map(({ event }) => event)).toEqual([
      'thinking',
      ...['toolCall', 'toolResult', 'toolCall', 'toolResult', 'toolCall', 'toolResult'],
      'error',
    ]);
    expect(frames.at(-1)).toEqual({
      event: 'error',
      data: {
        code: 'AGENT_ERROR',
        message: expect.any(String),
        details: { reason: expect.stringMatching(/3 model calls.*llm\.maxSteps/) },
      },
    });
    expect(upstream.requests).toHaveLength(3);
    // The conversation can go on: every call has its result.
    upstream.replyWith(textReply('Enough.'));
    const next = await service.post('/api/message-sync', { message: 'stop it' });
    expect(await next.json()).toMatchObject({ response: 'Enough.' });
    const roles = (await upstream.request(3)).body.messages.map(({ role }) => role);
    expect(roles).toEqual([
      ...['system', 'user'],
      ...['assistant', 'tool', 'assistant', 'tool', 'assistant', 'tool'],
      // It says that the turn ended there: some take no user behind a result.
      ...['assistant', 'user'],
    ]);
  });

  verifies('model.steps', 'with the scripted model, over REST', async () => {
    const script = [
      { when: 'loop', toolCalls: [{ tool: 'echo', arguments: { message: 'x' } }], repeat: true },
    ];
    const agent = {
      llm: { provider: 'scripted', model: 'offline', maxSteps: 2, script },
      mcpServers: { tools: scriptableServer() },
    };
    await using service = await RunningService.start({ yaml: JSON.stringify(agent) });
    const answer = await service.post('/api/message-sync', { message: 'loop' });
    expect(answer.status).toBe(500);
    expect(await answer.json()).toMatchObject({
      success: false,
      error: {
        code: 'AGENT_ERROR',
        details: { reason: expect.stringMatching(/2 model calls.*llm\.maxSteps/) },
      },
    });
  });
});
