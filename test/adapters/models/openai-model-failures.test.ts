import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { KEY, OpenAiModelHarness, PROMPT } from '../../support/models/openai-model-harness.ts';
import {
  errorReply,
  type StreamStep,
  textReply,
  type UpstreamReply,
} from '../../support/models/openai-upstream.ts';
import { replyText } from '../../support/models/replies.ts';

const text = (piece: string): StreamStep => ({ text: piece });
const fragment = (args: string): StreamStep => ({
  toolCall: { index: 0, id: 'c1', name: 'search', arguments: args },
});

const delta = (value: object): StreamStep => ({ event: { choices: [{ index: 0, delta: value }] } });
const role = delta({ role: 'assistant', content: '' });
const thought = delta({ reasoning_content: 'Hm' });

describe('a provider that refuses', () => {
  it.each([
    [401, null, /llm\.apiKey.*OPENAI_API_KEY/],
    [403, null, /llm\.apiKey.*OPENAI_API_KEY/],
    [404, 'model_not_found', /gpt-test.*llm\.model and llm\.baseURL/],
    [400, 'invalid_value', /refused the request/],
    [400, 'context_length_exceeded', /too long.*reset/],
    [413, null, /too large/],
    [422, null, /refused the request/],
    [402, null, /quota, credit or budget/],
    [418, null, /refused the request/],
  ])('with %i (%s) is asked once, and the reason says what to do', async (status, code, reason) => {
    await using harness = await OpenAiModelHarness.open(errorReply(status, { code }));
    const error = await harness.fail();
    expect(error.code).toBe('AGENT_ERROR');
    expect(error.details).toMatchObject({
      reason: expect.stringMatching(reason),
      provider: 'openai',
      status,
    });
    expect(error.details.reason).toContain(String(status));
    expect(harness.upstream.requests).toHaveLength(1);
  });

  it.each([
    [408, /too long to receive/],
    [409, /refused the request/],
    [429, /rate limit or quota/],
    [500, /in trouble/],
    [503, /in trouble/],
  ])('with %i is asked three times before the turn fails', async (status, reason) => {
    const reply = errorReply(status, { retryAfterMs: 1 });
    await using harness = await OpenAiModelHarness.open(reply, reply, reply);
    const error = await harness.fail();
    expect(error.details).toMatchObject({ status, reason: expect.stringMatching(reason) });
    expect(harness.upstream.requests).toHaveLength(3);
  });

  it('for a while only does no harm', async () => {
    await using harness = await OpenAiModelHarness.open(
      errorReply(503, { retryAfterMs: 1 }),
      textReply('fine'),
    );
    expect(replyText((await harness.ask()).reply)).toBe('fine');
  });

  it('with Retry-After is left alone that long, which is no silence', async () => {
    const limited = { status: 429, headers: { 'retry-after-ms': '350' }, body: {} };
    await using harness = await OpenAiModelHarness.open(limited, textReply('fine'));
    const startedAt = performance.now();
    expect(replyText((await harness.ask({ config: { firstByteTimeoutMs: 300 } })).reply)).toBe('fine');
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(349);
  });

  it.each<[string, UpstreamReply]>([
    ['is cut', { stream: [{ raw: '{' }, { cut: true }], status: 401, contentType: 'application/json' }],
    ['is not packed as it says', { status: 401, headers: { 'content-encoding': 'gzip' }, body: 'plain' }],
  ])('is asked once and quoted with its status, though its body %s', async (_what, reply) => {
    await using harness = await OpenAiModelHarness.open(reply);
    expect((await harness.fail()).details).toMatchObject({ status: 401 });
    expect(harness.upstream.requests).toHaveLength(1);
  });

  it('for want of credit says so, though the status is that of a rate limit', async () => {
    const reply = errorReply(429, { code: 'insufficient_quota', retryAfterMs: 1 });
    await using harness = await OpenAiModelHarness.open(reply, reply, reply);
    const { details } = await harness.fail();
    expect(details).toMatchObject({ reason: expect.stringMatching(/billing/), code: 'insufficient_quota' });
  });

  it('because no key was given is told apart from a wrong key', async () => {
    await using harness = await OpenAiModelHarness.open(errorReply(401));
    const { details } = await harness.fail({ config: { provider: 'vllm', apiKey: undefined } });
    expect(details.reason).toMatch(/needs one: set llm\.apiKey or the environment variable VLLM_API_KEY/);
  });

  it.each<[string, UpstreamReply]>([
    ['as the code', errorReply(400, { code: KEY, message: PROMPT })],
    ['inside the code', errorReply(400, { code: `bad.${KEY}`, message: PROMPT })],
    ['in a long code', errorReply(400, { code: `${PROMPT} ${KEY}` })],
    [
      'in an HTML page',
      { status: 400, body: `<h1>${KEY} ${PROMPT}</h1>`, headers: { 'content-type': 'text/html' } },
    ],
    ['in a list', { status: 400, body: [{ error: { message: `${KEY} ${PROMPT}` } }] }],
  ])('and repeats key and prompt %s is not quoted', async (_where, reply) => {
    await using harness = await OpenAiModelHarness.open(reply);
    const error = await harness.fail();
    expect(error.details.status).toBe(400);
    expect(error.cause).toBeUndefined();
    const shown = JSON.stringify(error.body) + error.stack;
    expect(shown).not.toContain(KEY);
    expect(shown).not.toContain(PROMPT);
  });
});

describe('an answer that is packed and no reply', () => {
  // An error of the unpacker that nobody listened to would end the process; here it fails the run.
  it.each([
    [
      'whole',
      gzipSync('<html>log in</html>'),
      /text\/html instead of a reply; check .*llm\.baseURL and llm\.api/,
    ],
    ['cut short', gzipSync('<html>log in</html>').subarray(0, 12), /failed \(Z_BUF_ERROR\).*llm\.baseURL/],
    ['not packed after all', Buffer.from('<html>log in</html>'), /failed \(Z_DATA_ERROR\).*llm\.baseURL/],
  ])('is refused for what it is, %s', async (_what, body, reason) => {
    const server = createServer((_req, res) => {
      res.writeHead(200, { 'content-type': 'text/html', 'content-encoding': 'gzip' }).end(body);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    await using harness = await OpenAiModelHarness.open();
    const { details } = await harness.fail({
      config: { baseURL: `http://127.0.0.1:${port}/v1`, maxRetries: 0 },
    });
    expect(details.reason).toMatch(reason);
    await new Promise((resolve) => {
      server.close(resolve);
      server.closeAllConnections();
    });
  });
});

describe('a provider that cannot be reached', () => {
  it('because nothing listens is named with its origin', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    await using harness = await OpenAiModelHarness.open();
    const { details } = await harness.fail({
      config: {
        provider: 'ollama',
        baseURL: `http://127.0.0.1:${port}/v1?token=abc`,
        maxRetries: 0,
      },
    });
    expect(details.reason).toBe(
      `Nothing listens at http://127.0.0.1:${port}: start Ollama there, or correct llm.baseURL.`,
    );
    expect(details).not.toHaveProperty('status');
  });

  it('because its name is unknown is a matter of llm.baseURL or DNS', async () => {
    await using harness = await OpenAiModelHarness.open();
    const { details } = await harness.fail({
      config: { baseURL: 'http://no-such-host.invalid/v1', maxRetries: 0 },
    });
    expect(details.reason).toMatch(/no-such-host\.invalid could not be found.*llm\.baseURL.*DNS/);
  });

  it('because it hangs up before the headers is asked again', async () => {
    await using harness = await OpenAiModelHarness.open({ hangUp: true }, textReply('fine'));
    expect(replyText((await harness.ask()).reply)).toBe('fine');
    expect(harness.upstream.requests).toHaveLength(2);
  });
});

describe('a stream that goes wrong', () => {
  it.each<[string, StreamStep[], RegExp]>([
    [
      'is cut in the middle',
      [text('half '), { cut: true }],
      /closed the connection before its answer was complete/,
    ],
    [
      'is cut after it has gone on behind a finish reason',
      [{ finish: 'stop' }, text('half '), { cut: true }],
      /closed the connection before its answer was complete/,
    ],
    ['ends without a finish reason', [text('half ')], /ended before the reply was complete/],
    [
      'has an event that is no JSON',
      [text('half '), { raw: 'data: {"choices": [\n\n' }],
      /sent an event that is not complete JSON/,
    ],
    [
      'goes on with events of another shape only',
      [text('half '), { event: { choices: 'none' } }, { event: { ping: 1 } }],
      /ended before the reply was complete/,
    ],
    ['has an error in it', [text('half '), { error: { code: 'wobble' } }], /reported an error.*wobble/],
    [
      'has an error of its server in it',
      [text('half '), { error: { code: 'server_error' } }],
      /in trouble or overloaded.*server_error/,
    ],
    ['has an error that is a sentence', [text('half '), { error: 'it broke' }], /reported an error/],
    [
      'has an error without its wrapping',
      [text('half '), { event: { object: 'error', code: 'oops' } }],
      /oops/,
    ],
    ['has an HTTP status in it', [text('half '), { error: { code: 429 } }], /rate limit or quota.*429/],
    ['is stopped by the content filter', [text('half '), { finish: 'content_filter' }], /content filter/],
    [
      'is stopped by the content filter, and its connection stays open',
      [text('half '), { finish: 'content_filter' }, { done: true }, { hang: true }],
      /content filter/,
    ],
    [
      'finishes for a reason nobody knows',
      [text('half '), { finish: 'wandered_off' }, { done: true }],
      /ended the reply with an error \(wandered_off\)/,
    ],
    [
      'finishes with an error',
      [text('half '), { finish: 'error' }, { done: true }],
      /ended the reply with an error \(error\)/,
    ],
    [
      'runs out of tokens within a tool call',
      [text('half '), fragment('{"query": "a'), { finish: 'length' }, { done: true }],
      /token limit in the middle of a tool call/,
    ],
    [
      'has a tool call without a name',
      [text('half '), { toolCall: { index: 0, id: 'c1', arguments: '{}' } }, { finish: 'tool_calls' }],
      /tool call without a name/,
    ],
  ])(
    'because it %s fails after the text that came, and is not asked again',
    async (_what, stream, reason) => {
      await using harness = await OpenAiModelHarness.open({ stream });
      const heard: string[] = [];
      const error = await harness.fail({ onText: (piece) => heard.push(piece) });
      expect(error.details).toMatchObject({ reason: expect.stringMatching(reason), provider: 'openai' });
      expect(heard).toEqual(['half ']);
      await harness.upstream.idle();
      expect(harness.upstream.requests).toHaveLength(1);
    },
  );

  it('because the tokens ran out before the first word says so', async () => {
    await using harness = await OpenAiModelHarness.open({ stream: [{ finish: 'length' }, { done: true }] });
    const { details } = await harness.fail();
    expect(details.reason).toMatch(/token limit before it said anything/);
    expect(details).not.toHaveProperty('refused');
  });

  it('because the conversation left no room for a token says so', async () => {
    const usage = { prompt_tokens: 4_096, completion_tokens: 0 };
    await using harness = await OpenAiModelHarness.open({
      stream: [{ finish: 'length' }, { usage }, { done: true }],
    });
    expect((await harness.fail()).details).toMatchObject({
      refused: 'context',
      reason: expect.stringContaining('too long for model gpt-test'),
    });
  });

  it('because the tokens ran out within the thoughts is no long conversation, whatever the server counts', async () => {
    const usage = { prompt_tokens: 0, completion_tokens: 0 };
    await using harness = await OpenAiModelHarness.open({
      stream: [thought, { finish: 'length' }, { usage }, { done: true }],
    });
    const { details } = await harness.fail();
    expect(details.reason).toMatch(/token limit before it said anything; raise llm\.maxTokens/);
    expect(details).not.toHaveProperty('refused');
  });

  it('because it is a page and no reply says what came instead', async () => {
    await using harness = await OpenAiModelHarness.open({ status: 200, body: '<h1>Log in</h1>' });
    const { details } = await harness.fail();
    expect(details).toMatchObject({ reason: expect.stringContaining('application/json'), status: 200 });
    await harness.upstream.idle();
    expect(harness.upstream.requests).toHaveLength(1);
  });

  it.each<[string, UpstreamReply]>([
    ['as a whole', { status: 200, body: { choices: [] } }],
    ['as events', { stream: [{ event: { ping: 1 } }, { done: true }] }],
  ])('because no chat completion came says so: %s', async (_how, reply) => {
    await using harness = await OpenAiModelHarness.open(reply);
    const { details } = await harness.fail();
    expect(details.reason).toMatch(/nothing that is a chat completion.*llm\.baseURL.*llm\.api/);
    await harness.upstream.idle();
    expect(harness.upstream.requests).toHaveLength(1);
  });

  it.each<[string, UpstreamReply]>([
    ['no event at all', { stream: [] }],
    ['keep-alives only', { stream: [{ raw: ': PROCESSING\n\n' }] }],
  ])('because it ends with %s is asked again', async (_how, nothing) => {
    await using harness = await OpenAiModelHarness.open(nothing, textReply('fine'));
    expect(replyText((await harness.ask()).reply)).toBe('fine');
    expect(harness.upstream.requests).toHaveLength(2);
  });

  it.each(['', '\n\n'])(
    'because %j was all of it is asked again, and fails when it is so each time',
    async (said) => {
      const empty: UpstreamReply = { stream: [{ text: said }, { finish: 'stop' }, { done: true }] };
      await using harness = await OpenAiModelHarness.open(empty, empty, empty, empty);
      const { details } = await harness.fail({ config: { maxRetries: 1 } });
      expect(details.reason).toMatch(/empty reply: neither text nor a tool call/);
      expect(harness.upstream.requests).toHaveLength(4);
    },
  );

  it.each<[string, (piece: string) => StreamStep]>([
    ['text', text],
    ['a tool call', fragment],
  ])('because %s has no end does not fill the memory, nor the log', async (_what, step) => {
    const endless = Array.from({ length: 17 }, () => step('x'.repeat(1024 * 1024)));
    await using harness = await OpenAiModelHarness.open({ stream: [...endless, { hang: true }] });
    let heard = 0;
    const error = await harness.fail({ onText: (piece) => (heard += piece.length) });
    expect(error.details.reason).toMatch(/did not end its reply within 16777216 characters/);
    expect(heard).toBeLessThanOrEqual(16_777_216);
    await harness.upstream.idle();
  });

  it('because one event has no end does not fill the memory', async () => {
    const megabyte = 'x'.repeat(1024 * 1024);
    const endless = Array.from({ length: 20 }, (): StreamStep => ({ raw: megabyte }));
    await using harness = await OpenAiModelHarness.open({
      stream: [{ raw: 'data: "' }, ...endless, { hang: true }],
    });
    expect((await harness.fail()).details.reason).toMatch(/event too large/);
    await harness.upstream.idle();
  });
});

describe('a provider that falls silent', () => {
  it.each<[string, 'timeoutMs' | 'firstByteTimeoutMs', UpstreamReply]>([
    ['before the headers', 'firstByteTimeoutMs', { hang: true }],
    ['before the first event', 'firstByteTimeoutMs', { stream: [{ hang: true }] }],
    ['before the first piece', 'firstByteTimeoutMs', { stream: [role, { hang: true }] }],
    [
      'in the body of an error',
      'firstByteTimeoutMs',
      { stream: [{ raw: '{' }, { hang: true }], status: 500 },
    ],
    ['after the first piece', 'timeoutMs', { stream: [text('half '), { hang: true }] }],
    ['after the first thought', 'timeoutMs', { stream: [thought, { hang: true }] }],
    ['within a tool call', 'timeoutMs', { stream: [fragment('{"a'), { hang: true }] }],
    ['in the middle', 'timeoutMs', { stream: [text('half '), text('way'), { hang: true }] }],
  ])('%s is given up after llm.%s, and not asked again', async (_when, setting, reply) => {
    await using harness = await OpenAiModelHarness.open(reply);
    const { details } = await harness.fail({ config: { [setting]: 60 } });
    expect(details).toMatchObject({
      provider: 'openai',
      reason: expect.stringMatching(new RegExp(`silent for 60 ms.*llm\\.${setting}`)),
    });
    await harness.upstream.idle();
    expect(harness.upstream.requests).toHaveLength(1);
  });

  it('but for comments that keep the connection alive is waited for', async () => {
    const pause = (): StreamStep => ({ pauseMs: 70 });
    const beat: StreamStep = { raw: ': still thinking\n\n' };
    const stream = [pause(), beat, pause(), beat, pause(), beat, pause(), text('done'), { finish: 'stop' }];
    await using harness = await OpenAiModelHarness.open({ stream });
    expect(
      replyText((await harness.ask({ config: { timeoutMs: 250, firstByteTimeoutMs: 250 } })).reply),
    ).toBe('done');
  });
});
