import { getEventListeners } from 'node:events';
import { setImmediate as nextLoop } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { cutIntoPieces } from '../../../src/adapters/scripted/reply-stream.ts';
import { scriptedModel } from '../../../src/adapters/scripted/scripted-model.ts';
import { LlmConfig } from '../../../src/config/schema/llm-config.ts';
import type { ModelMessage, ModelTool } from '../../../src/core/conversation/model-message.ts';
import type { ModelReply } from '../../../src/ports/language-model.ts';
import { callsIn, ReplyRecord, replyText } from '../../support/models/replies.ts';

const tools: ModelTool[] = [
  { name: 'echo', description: 'Says it back.\nSecond line.', inputSchema: { type: 'object' } },
  {
    name: 'math__add',
    description: '',
    inputSchema: {
      type: 'object',
      properties: { a: { type: 'number' }, b: { type: 'integer' }, note: { type: 'string' } },
    },
  },
];

const user = (text: string): ModelMessage => ({ role: 'user', text });
const result = (callId: string, name: string, text: string): ModelMessage => ({
  role: 'tool',
  callId,
  name,
  text,
});
const asked = (callId: string, name: string): ModelMessage => ({
  role: 'assistant',
  parts: [{ type: 'toolCall', callId, name, arguments: {} }],
});

async function ask(
  messages: string | ModelMessage[],
  {
    script = [],
    offered = tools,
    signal = new AbortController().signal,
  }: { script?: object[]; offered?: ModelTool[]; signal?: AbortSignal } = {},
): Promise<{ reply: ModelReply; text: string; pieces: string[] }> {
  const record = new ReplyRecord();
  const model = scriptedModel(LlmConfig.parse({ provider: 'scripted', model: 'demo', script }));
  const conversation = typeof messages === 'string' ? [user(messages)] : messages;
  const request = { systemPrompt: '', messages: conversation, tools: offered };
  const reply = await model.generate(request, record, signal);
  expect(record.pieces.join('')).toBe(replyText(reply));
  return { reply, text: replyText(reply), pieces: record.pieces };
}

describe('the scripted model without a script', () => {
  it.each(['hi', 'Hello there', 'good morning'])(
    'greets back on "%s", says what it is and how to get a real one',
    async (greeting) => {
      const { text } = await ask(greeting);
      expect(text).toMatch(/^Hello!/);
      expect(text).toContain('scripted model of agent-service');
      expect(text).toContain('llm.provider');
    },
  );

  it.each(['tools', 'help', 'which tools do you have?', 'hi, what can you do?'])(
    'lists its tools, a line each, on "%s"',
    async (question) => {
      const { text } = await ask(question);
      expect(text).toContain('- `echo`: Says it back.\n- `math__add`\n');
      expect(text).not.toContain('Second line');
    },
  );

  it('shows a call with arguments that the tool accepts', async () => {
    const properties = { a: { type: 'integer' }, b: { type: 'boolean' }, c: true, d: { type: 'array' } };
    const inputSchema = { type: 'object', properties, required: ['a', 'b', 'c', 'd', 'e'] };
    const { text } = await ask('tools', { offered: [{ name: 'mix', description: '', inputSchema }] });
    expect(text).toMatch(/say: use mix \{"a":1,"b":true,"c":"hello","d":\[\],"e":"hello"\}$/);
  });

  it('says how to get tools when it has none', async () => {
    expect((await ask('tools', { offered: [] })).text).toMatch(/no tools yet.*mcpServers/);
  });

  it.each([
    ['who are you?', /scripted model/],
    ['are you a real AI?', /llm\.provider/],
    ['thank you', /welcome/],
    ['how are you', /very well/i],
    ['bye', /Goodbye/],
    ['', /heard nothing/],
  ])('knows small talk: "%s"', async (question, answer) => {
    expect((await ask(question)).text).toMatch(answer);
  });

  it('repeats what else it heard and says what to try', async () => {
    const { text } = await ask('The weather is $& fine');
    expect(text).toContain('You said: The weather is $& fine');
    expect(text).toMatch(/Try "tools"/);
  });

  it('calls a tool when told to use it, and then says what it answered', async () => {
    const first = await ask('use echo {"message": "hi"}');
    const [call] = callsIn(first.reply);
    expect(call).toMatchObject({ name: 'echo', arguments: '{"message":"hi"}' });
    const callId = call?.callId ?? '';
    const second = await ask([
      user('use echo {"message": "hi"}'),
      asked(callId, 'echo'),
      result(callId, 'echo', 'Echo: hi'),
    ]);
    expect(second.text).toBe('echo answered:\nEcho: hi');
    expect(callsIn(second.reply)).toEqual([]);
  });

  it('finds a tool by its bare name, and takes no arguments for none', async () => {
    const { reply } = await ask('Use add');
    expect(callsIn(reply)).toMatchObject([{ name: 'math__add', arguments: '{}' }]);
  });

  it('answers an unknown tool with the names that exist', async () => {
    const { text, reply } = await ask('use hammer {}');
    expect(text).toContain('no tool called `hammer`');
    expect(text).toContain('`echo`, `math__add`');
    expect(callsIn(reply)).toEqual([]);
  });

  it.each(['{"a": ', '[1]', '5', 'null'])('says what is wrong with the arguments %s', async (json) => {
    const { text, reply } = await ask(`use echo ${json}`);
    expect(text).toMatch(/cannot call `echo`.*JSON object/s);
    expect(callsIn(reply)).toEqual([]);
  });

  it.each([
    ['aGk=', 2],
    ['aA==', 1],
    ['aGV5', 3],
  ])('acknowledges an image with type and size (%s)', async (base64, bytes) => {
    const { text } = await ask([
      { role: 'user', text: 'thanks', images: [{ base64, mimeType: 'image/webp' }] },
    ]);
    expect(text).toContain(`image/webp, ${bytes} bytes`);
    expect(text).toContain('welcome');
  });

  it('says the same to the same conversation, call ids included', async () => {
    const conversation = [user('hello'), asked('x', 'echo'), result('x', 'echo', 'y'), user('use echo')];
    expect((await ask(conversation)).reply).toEqual((await ask(conversation)).reply);
  });

  it('gives calls later in the conversation other ids', async () => {
    const first = callsIn((await ask('use echo')).reply)[0]?.callId ?? '';
    const later = await ask([
      user('use echo'),
      asked(first, 'echo'),
      result(first, 'echo', 'y'),
      user('use echo'),
    ]);
    expect(callsIn(later.reply)[0]?.callId).not.toBe(first);
  });
});

describe('a script', () => {
  it('is tried in order, without regard to case, before the model has its own idea', async () => {
    const script = [
      { when: 'price', reply: 'It costs $5.' },
      { when: '.', reply: 'never mind' },
    ];
    expect((await ask('The PRICE?', { script })).text).toBe('It costs $5.');
    expect((await ask('hello', { script })).text).toBe('never mind');
  });

  it('leaves what no rule matches to the model', async () => {
    expect((await ask('hello', { script: [{ when: 'price', reply: 'x' }] })).text).toMatch(/^Hello!/);
  });

  it('looks at the last user message only', async () => {
    const script = [
      { when: 'first', reply: 'wrong' },
      { when: 'second', reply: 'right' },
    ];
    expect((await ask([user('first'), user('second')], { script })).text).toBe('right');
  });

  it('looks at what was said in this turn, not at what was said before and never answered', async () => {
    const script = [
      { when: '^second', reply: 'right' },
      { when: 'first', reply: 'wrong' },
    ];
    const model = scriptedModel(LlmConfig.parse({ provider: 'scripted', model: 'demo', script }));
    const origin = { turnId: 't', step: 1, said: 'second' };
    const request = { systemPrompt: '', messages: [user('first\n\nsecond')], tools: [], origin };
    const reply = await model.generate(request, new ReplyRecord(), new AbortController().signal);
    expect(replyText(reply)).toBe('right');
  });

  it('looks at the messages without an answer in a turn that brings none', async () => {
    const script = [{ when: '^first$', reply: 'right' }];
    const model = scriptedModel(LlmConfig.parse({ provider: 'scripted', model: 'demo', script }));
    const origin = { turnId: 't', step: 1, said: '' };
    const request = { systemPrompt: '', messages: [user('first')], tools: [], origin };
    const reply = await model.generate(request, new ReplyRecord(), new AbortController().signal);
    expect(replyText(reply)).toBe('right');
  });

  it('fills groups into replies and arguments, however deep, and leaves other dollars alone', async () => {
    const script = [
      {
        when: 'move (\\w+) to (\\w+)( now)?',
        reply: 'Moving $1 to $2$3 for $9, $12.',
        toolCalls: [{ tool: 'echo', arguments: { what: '$1', deep: [{ to: 'the $2' }, 7, null] } }],
      },
    ];
    const { text, reply } = await ask('move box to $2', {
      script: [{ when: 'to (.*)', reply: 'it was $1' }],
    });
    expect(text).toBe('it was $2');
    expect(callsIn(reply)).toEqual([]);
    const moved = await ask('move box to attic', { script });
    expect(moved.text).toBe('Moving box to attic for $9, box2.');
    expect(JSON.parse(callsIn(moved.reply)[0]?.arguments ?? '')).toEqual({
      what: 'box',
      deep: [{ to: 'the attic' }, 7, null],
    });
  });

  it('gives a tool numbers where its schema wants them', async () => {
    const add = { tool: 'add', arguments: { a: '$1', b: '$2', note: '$1' } };
    const { reply } = await ask('add 2.5 and 3', {
      script: [{ when: 'add (\\S+) and (\\S+)', toolCalls: [add] }],
    });
    expect(callsIn(reply)[0]).toMatchObject({
      name: 'math__add',
      arguments: '{"a":2.5,"b":3,"note":"2.5"}',
    });
  });

  it('prefers the tool of exactly the name, and passes on a name nobody has', async () => {
    const offered = [{ ...(tools[0] as ModelTool), name: 'files__echo' }, ...tools];
    const script = [{ when: '.', toolCalls: [{ tool: 'echo' }, { tool: 'hammer' }] }];
    const { reply } = await ask('go', { script, offered });
    expect(callsIn(reply).map((call) => call.name)).toEqual(['echo', 'hammer']);
    expect(new Set(callsIn(reply).map((call) => call.callId)).size).toBe(2);
  });

  it('speaks again after its tools, with what they said', async () => {
    const script = [{ when: '(go)', toolCalls: [{ tool: 'echo' }], afterTools: '$1: {{results}}.' }];
    const conversation = [
      user('go'),
      asked('a', 'echo'),
      result('a', 'echo', 'one $1'),
      result('b', 'echo', '{{results}}'),
    ];
    const { text, reply } = await ask(conversation, { script });
    expect(text).toBe('go: one $1\n{{results}}.');
    expect(callsIn(reply)).toEqual([]);
  });

  it('asks for the tools again and again with `repeat`', async () => {
    const script = [{ when: 'go', reply: 'Off I go.', toolCalls: [{ tool: 'echo' }], repeat: true }];
    const conversation: ModelMessage[] = [user('go')];
    const ids: string[] = [];
    for (let round = 0; round < 3; round += 1) {
      const { reply } = await ask(conversation, { script });
      const callId = callsIn(reply)[0]?.callId ?? '';
      ids.push(callId);
      conversation.push(asked(callId, 'echo'), result(callId, 'echo', 'again'));
    }
    expect(new Set(ids).size).toBe(3);
    expect(ids).not.toContain('');
  });

  it('fails with its reason after its reply', async () => {
    const script = [{ when: '.', reply: 'so far', fail: 'it was told to' }];
    await expect(ask('go', { script })).rejects.toMatchObject({
      code: 'AGENT_ERROR',
      details: { reason: 'it was told to', provider: 'scripted' },
    });
  });

  it('that fails and has tools fails once they have answered', async () => {
    const script = [{ when: '.', toolCalls: [{ tool: 'echo' }], fail: 'it was told to' }];
    expect(callsIn((await ask('go', { script })).reply)).toHaveLength(1);
    const conversation = [user('go'), asked('a', 'echo'), result('a', 'echo', 'x')];
    await expect(ask(conversation, { script })).rejects.toMatchObject({ code: 'AGENT_ERROR' });
  });

  it('streams in as many pieces as it says', async () => {
    const { pieces } = await ask('go', { script: [{ when: '.', reply: 'a👋bcdefg', chunks: 4 }] });
    expect(pieces).toEqual(['a👋', 'bc', 'de', 'fg']);
  });
});

describe('the pace of the scripted model', () => {
  it('lets others have their turn in a long reply', async () => {
    let turns = 0;
    const count = (): void => {
      turns += 1;
      immediate = setImmediate(count);
    };
    let immediate = setImmediate(count);
    await ask('go', { script: [{ when: '.', reply: 'word '.repeat(64) }] });
    clearImmediate(immediate);
    expect(turns).toBeGreaterThanOrEqual(4);
  });

  it('waits before each piece, and an abort ends the wait at once', async () => {
    const abort = new AbortController();
    const script = [{ when: '.', reply: 'a b', delayMs: 3_600_000 }];
    const outcome = ask('go', { script, signal: abort.signal }).then(
      () => 'answered',
      (error: unknown) => (error instanceof Error ? error.name : error),
    );
    await nextLoop();
    await nextLoop();
    expect(getEventListeners(abort.signal, 'abort')).toHaveLength(1);
    abort.abort();
    expect(await outcome).toBe('AbortError');
    expect(getEventListeners(abort.signal, 'abort')).toHaveLength(0);
  });

  it('waits for every piece anew', async () => {
    const script = [{ when: '.', reply: 'a b c', delayMs: 20 }];
    const startedAt = performance.now();
    await ask('go', { script });
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(57);
  });
});

describe('cutting a text into pieces', () => {
  it.each(['', ' ', 'one', ' two  words\n', 'tab\tand\r\nlines\n\n', '👋🏽 é'])(
    '%j loses nothing',
    (text) => {
      for (const count of [undefined, 1, 2, 3, 100]) {
        const pieces = cutIntoPieces(text, count);
        expect(pieces.join('')).toBe(text);
        expect(pieces).not.toContain('');
      }
    },
  );
});
