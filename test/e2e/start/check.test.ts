import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { inflateSync } from 'node:zlib';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { MessagesUpstream, messagesReply, THOUGHT } from '../../support/models/messages-upstream.ts';
import {
  errorReply,
  textReply,
  toolCallReply,
  type UpstreamReply,
} from '../../support/models/openai-upstream.ts';
import { agentFolder } from '../../support/service/agent-folder.ts';
import { CHECK_KEY, checked, checkedModel, marksOf, rowOf } from '../../support/service/checked-agent.ts';
import { type Ask, askOf, checkedProvider } from '../../support/service/checked-provider.ts';
import { modestProvider } from '../../support/service/modest-provider.ts';
import { SCRIPTED } from '../../support/service/running-service.ts';
import { type Ending, ServiceProcess } from '../../support/service/service-process.ts';
import { verifies } from '../requirements.ts';

/** The command as a process of its own, in a folder with this agent file. */
async function check(yaml: string, environment: Record<string, string>, ...flags: string[]): Promise<Ending> {
  await using folder = await agentFolder(yaml);
  const args = ['check', '--agent', 'agent.yml', ...flags];
  await using command = new ServiceProcess(args, { cwd: folder.path, environment });
  return await command.ended;
}

const ImageUrl = z.tuple([
  z.looseObject({ type: z.literal('text') }),
  z.object({ type: z.literal('image_url'), image_url: z.object({ url: z.string() }) }),
]);

/** Each colour that is in a PNG of eight bits a channel, of lines without a filter. */
function coloursOf(dataUrl: string): { side: number; colours: Set<string> } {
  const [, base64 = ''] = /^data:image\/png;base64,(.+)$/.exec(dataUrl) ?? [];
  const png = Buffer.from(base64, 'base64');
  const side = png.readUInt32BE(16);
  const at = png.indexOf('IDAT');
  const lines = inflateSync(png.subarray(at + 4, at + 4 + png.readUInt32BE(at - 4))).toString('hex');
  const line = new RegExp(`.{${2 * (1 + 3 * side)}}`, 'g');
  const pixels = lines.match(line)?.flatMap((text) => text.slice(2).match(/.{6}/g) ?? []) ?? [];
  expect(pixels).toHaveLength(side * png.readUInt32BE(20));
  return { side, colours: new Set(pixels) };
}

describe.concurrent('agent-service check', () => {
  verifies('check.able', async () => {
    await using upstream = await checkedProvider();
    const llm = checkedModel({ baseURL: upstream.baseURL, temperature: 0.2 });
    const ending = await check(JSON.stringify({ llm }), { CHECK_KEY });
    expect(ending).toMatchObject({ code: 0, stderr: '' });
    const { stdout } = ending;
    expect(stdout).not.toContain(CHECK_KEY);
    const { origin } = new URL(upstream.baseURL);
    expect(stdout).toMatch(/^agent\.yml: openai gpt-test at .*\nAt most 5 small requests are made/);
    expect(stdout).toContain(`${origin}, llm.api chat\n`);
    expect(marksOf(ending)).toBe('✓✓✓✓✓✓✓');
    expect(rowOf(ending, 'provider')).toEqual(['✓ provider answers and takes the key']);
    expect(stdout).toMatch(/✓ streaming {4}3 pieces within \d+ ms +\d+ ms +\d+ ms +7\+11\n/);
    expect(rowOf(ending, 'tool result')).toEqual(['✓ tool result goes on with the result']);
    expect(rowOf(ending, 'settings')).toEqual(['✓ settings taken: temperature']);
    expect(stdout).toMatch(/\n5 requests in \d+ ms; 35 tokens in, 55 out\.\n$/);

    expect(upstream.requests.map(askOf)).toEqual(['words', 'words', 'tool call', 'tool result', 'image']);
    for (const { headers, body } of upstream.requests) {
      expect(headers.authorization).toBe(`Bearer ${CHECK_KEY}`);
      expect(body).toMatchObject({ model: 'gpt-test', temperature: 0.2, stream: true });
    }
    expect((await upstream.request(3)).body.messages.slice(-2)).toEqual([
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'call_1', type: 'function', function: { name: 'add', arguments: '{"a":1234,"b":5678}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'call_1', content: '6912' },
    ]);
    const [, { image_url }] = ImageUrl.parse((await upstream.request(4)).body.messages.at(-1)?.content);
    expect(coloursOf(image_url.url)).toEqual({ side: 64, colours: new Set(['ffff00']) });
  });

  verifies('check.able', 'of a server that wants no key', async () => {
    await using upstream = await checkedProvider();
    const ending = await checked({
      provider: 'openai-compatible',
      apiKey: undefined,
      baseURL: upstream.baseURL,
    });
    expect(ending.code).toBe(0);
    expect(rowOf(ending, 'provider')).toEqual(['✓ provider answers; no key is set']);
    expect(rowOf(ending, 'settings')).toEqual(['– settings none is set']);
    expect((await upstream.request(0)).headers.authorization).toBeUndefined();
  });

  verifies('check.messages', async () => {
    await using upstream = await MessagesUpstream.listen(messagesReply);
    const ending = await checked({
      provider: 'anthropic',
      api: 'messages',
      model: 'claude-opus-4-8',
      baseURL: upstream.baseURL,
      reasoningEffort: 'low',
    });
    expect([ending.code, marksOf(ending)]).toEqual([0, '✓✓✓✓✓✓✓']);
    expect(ending.stdout).toContain('llm.api messages');
    expect(rowOf(ending, 'settings')).toEqual(['✓ settings taken: reasoningEffort']);
    expect(upstream.requests).toHaveLength(5);
    expect(upstream.requests[3]?.headers['x-api-key']).toBe(CHECK_KEY);
    // What the model has thought goes back with its call, as in a turn.
    expect(upstream.requests[3]?.body.messages.slice(-2)).toMatchObject([
      { role: 'assistant', content: [THOUGHT, { type: 'tool_use', id: 'toolu_1', name: 'add' }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: '6912' }] },
    ]);
  });

  verifies(
    'check.json',
    'with the number of all HTTP requests, also of those that are made again',
    async () => {
      await using upstream = await modestProvider();
      const llm = { api: 'responses', baseURL: upstream.baseURL, reasoningEffort: 'low' };
      const { stdout } = await checked(llm);
      expect(stdout).toContain('\nAt most 8 small requests are made');
      expect(stdout).toContain(`\n${upstream.requests()} requests in `);
      const before = upstream.requests();
      const report: unknown = JSON.parse((await checked(llm, '--json')).stdout);
      expect(report).toMatchObject({ requests: upstream.requests() - before });
      expect(before).toBe(6);
    },
  );

  verifies('check.json', async () => {
    await using upstream = await checkedProvider({
      image: errorReply(400, { message: 'images: not supported' }),
    });
    const { code, stdout } = await checked({ baseURL: upstream.baseURL }, '--json');
    expect(code).toBe(0);
    expect(stdout.split('\n')).toHaveLength(2);
    const report: unknown = JSON.parse(stdout);
    const facts = { firstPieceMs: expect.any(Number), totalMs: expect.any(Number) };
    const usage = { inputTokens: 7, outputTokens: 11 };
    expect(report).toMatchObject({
      agentFile: expect.stringMatching(/agent\.yml$/),
      provider: 'openai',
      model: 'gpt-test',
      api: 'chat',
      works: true,
      requests: 5,
      usage: { inputTokens: 28, outputTokens: 44 },
    });
    expect(report).toHaveProperty('checks', [
      expect.objectContaining({ name: 'provider', finding: 'yes', request: { ...facts, usage } }),
      expect.objectContaining({ name: 'model', finding: 'yes' }),
      expect.objectContaining({ name: 'streaming', finding: 'yes', request: { ...facts, usage } }),
      expect.objectContaining({
        name: 'tool call',
        finding: 'yes',
        request: { ...facts, firstPieceMs: null, usage },
      }),
      expect.objectContaining({ name: 'tool result', finding: 'yes' }),
      {
        name: 'image',
        finding: 'no',
        isFailure: false,
        outcome: 'takes no images',
        advice: expect.stringMatching(/Use a model that sees/),
        request: { firstPieceMs: null, totalMs: expect.any(Number), usage: null },
        error: expect.objectContaining({ status: 400, refused: 'image' }),
      },
      { name: 'settings', finding: 'unknown', outcome: 'none is set', isFailure: false },
    ]);
  });
});

const notTried = ['streaming', 'tool call', 'tool result', 'image'].map((name) => `– ${name} not tried`);

describe.concurrent('a check whose first request fails', () => {
  const cases: [aspect: string, reply: UpstreamReply, marks: string, row: string, advice: RegExp][] = [
    [
      'a wrong key',
      errorReply(401, { code: 'invalid_api_key', message: `Incorrect API key provided: ${CHECK_KEY}` }),
      '✗––––––',
      'provider no reply',
      /OpenAI refused the API key; check llm\.apiKey or .* OPENAI_API_KEY \(401, invalid_api_key\)\./,
    ],
    [
      'an unknown model',
      errorReply(404, { code: 'model_not_found' }),
      '✓✗–––––',
      'model does not exist, or not for you',
      /has no model gpt-test at .*check llm\.model and llm\.baseURL/,
    ],
    [
      'an address or a model that is unknown',
      { status: 404, body: 'not found' },
      '–✗–––––',
      'model does not exist, or not for you',
      /check llm\.model and llm\.baseURL/,
    ],
    [
      'a provider in trouble, which is not asked again',
      errorReply(503),
      '✗––––––',
      'provider no reply',
      /in trouble or overloaded.*503/,
    ],
    [
      'an address that is none of an API',
      { status: 200, body: '<html></html>', headers: { 'content-type': 'text/html' } },
      '✗––––––',
      'provider no reply',
      /text\/html instead of a reply.*llm\.baseURL/,
    ],
    [
      'a request that is refused without a reason',
      errorReply(400),
      '✓✗–––––',
      'model refuses a plain request',
      /OpenAI refused the request.*\(400/,
    ],
  ];
  for (const [aspect, reply, expected, row, advice] of cases) {
    verifies('check.failed', aspect, async () => {
      await using upstream = await checkedProvider({ words: reply });
      const ending = await checked({ baseURL: upstream.baseURL });
      expect([ending.code, marksOf(ending)]).toEqual([1, expected]);
      expect(rowOf(ending, row.split(' ')[0] ?? '')).toEqual([`✗ ${row}`, expect.stringMatching(advice)]);
      for (const line of notTried) expect(rowOf(ending, line.slice(2, -10))).toEqual([line]);
      expect(ending.stdout).toMatch(
        /\n1 request in \d+ ms; the provider reports no tokens\.\nThe other requests are/,
      );
      expect(upstream.requests).toHaveLength(1);
    });
  }

  verifies('check.failed', 'and when the agent file has no key, it makes none at all', async () => {
    const llm = checkedModel({ apiKey: '$NO_SUCH_KEY' });
    const missing = await check(JSON.stringify({ llm }), {});
    expect(missing).toMatchObject({ code: 1, stdout: '' });
    expect(missing.stderr).toMatch(/^agent-service: agent\.yml:1: llm\.apiKey: .*NO_SUCH_KEY is not set/);
    await expect(checked({ apiKey: '' })).rejects.toThrow(
      /agent\.yml:1: llm\.apiKey: found an empty string; .*OPENAI_API_KEY/,
    );
  });
});

describe.concurrent('a setting that is refused', () => {
  const refusal = (param: string): UpstreamReply => ({
    status: 400,
    body: { error: { message: 'Unsupported value', type: 'invalid_request_error', param, code: null } },
  });

  verifies('check.setting', async () => {
    await using upstream = await checkedProvider({ words: refusal('temperature') });
    const ending = await checked({ baseURL: upstream.baseURL, temperature: 2, seed: 1 });
    expect([ending.code, marksOf(ending)]).toEqual([1, '✓–––––✗']);
    expect(rowOf(ending, 'settings')).toEqual([
      '✗ settings a setting is refused',
      expect.stringMatching(/remove llm\.temperature: .*field temperature/),
    ]);
    expect(upstream.requests).toHaveLength(1);
  });

  verifies('check.setting', 'also one that is sent with tools only', async () => {
    await using upstream = await checkedProvider({ 'tool call': refusal('parallel_tool_calls') });
    const ending = await checked({ baseURL: upstream.baseURL, parallelToolCalls: false });
    expect([ending.code, marksOf(ending)]).toEqual([1, '✓✓✓––✓✗']);
    expect(rowOf(ending, 'tool call')).toEqual(['– tool call not known: a setting is refused']);
    expect(rowOf(ending, 'settings')[1]).toMatch(/remove llm\.parallelToolCalls/);
  });

  verifies('check.setting', 'also one that is known to be, before anything is sent', async () => {
    await using upstream = await MessagesUpstream.listen(messagesReply);
    const ending = await checked({
      provider: 'anthropic',
      api: 'messages',
      model: 'claude-opus-4-8',
      baseURL: upstream.baseURL,
      temperature: 0.5,
    });
    expect([ending.code, marksOf(ending)]).toEqual([1, '––––––✗']);
    expect(rowOf(ending, 'settings')[1]).toMatch(/takes no llm\.temperature: remove it/);
    expect(upstream.requests).toEqual([]);
  });
});

describe.concurrent('what a model cannot do', () => {
  const wholeReply = { role: 'assistant', content: 'one, two, three' };
  const cases: [aspect: string, Partial<Record<Ask, UpstreamReply>>, marks: string, row: string, RegExp][] = [
    [
      'take tools',
      { 'tool call': errorReply(400, { message: 'gpt-test does not support tools' }) },
      '✓✓✓✗–✓–',
      'tool call takes no tools',
      /does not accept tools with its present server settings; start vLLM with/,
    ],
    [
      'call a tool',
      { 'tool call': textReply('It is 6912.') },
      '✓✓✓✗–✓–',
      'tool call answers without calling the tool',
      /Use a model that calls tools/,
    ],
    [
      'call a tool with the right arguments',
      { 'tool call': toolCallReply([{ id: 'call_1', name: 'add', arguments: { x: 1234 } }]) },
      '✓✓✓✗–✓–',
      'tool call calls it with other arguments',
      /better with tools/,
    ],
    [
      'go on after a tool call',
      { 'tool result': toolCallReply([{ id: 'call_2', name: 'add', arguments: { a: 1, b: 2 } }]) },
      '✓✓✓✓✗✓–',
      'tool result calls the tool once more',
      /better with tools/,
    ],
    [
      'take a tool’s result',
      { 'tool result': errorReply(400, { message: 'unexpected role tool' }) },
      '✓✓✓✓✗✓–',
      'tool result refuses the result',
      /OpenAI refused the request/,
    ],
    [
      'take images',
      { image: errorReply(400, { message: 'gpt-test is not a multimodal model' }) },
      '✓✓✓✓✓✗–',
      'image takes no images',
      /did not accept an image/,
    ],
    [
      'see images that its server takes',
      { image: textReply('I see no ', 'image.') },
      '✓✓✓✓✓✗–',
      'image does not see it',
      /does not name its colour/,
    ],
    [
      'stream',
      { words: { status: 200, body: { choices: [{ message: wholeReply, finish_reason: 'stop' }] } } },
      '✓✓✗✓✓✓–',
      'streaming the reply came in one piece',
      /only when it is complete/,
    ],
  ];
  for (const [aspect, otherwise, expected, row, advice] of cases) {
    verifies('check.unable', aspect, async () => {
      await using upstream = await checkedProvider(otherwise);
      const ending = await checked({ baseURL: upstream.baseURL });
      expect([ending.code, marksOf(ending)]).toEqual([0, expected]);
      const [name = ''] = /^(?:tool )?\w+/.exec(row) ?? [];
      expect(rowOf(ending, name)).toEqual([`✗ ${row}`, expect.stringMatching(advice)]);
      expect(upstream.requests).toHaveLength(expected.startsWith('✓✓✓✗') ? 4 : 5);
    });
  }
});

describe.concurrent('a check that does not come to its end', () => {
  verifies('check.unknown', async () => {
    await using upstream = await checkedProvider({
      'tool call': errorReply(429),
      image: { stream: [{ text: 'Yel' }, { cut: true }] },
    });
    const ending = await checked({ baseURL: upstream.baseURL });
    expect([ending.code, marksOf(ending)]).toEqual([1, '✓✓✓––––']);
    expect(rowOf(ending, 'tool call')).toEqual(['– tool call no reply', expect.stringMatching(/rate limit/)]);
    expect(rowOf(ending, 'image')).toEqual(['– image no reply', expect.stringMatching(/closed the conn/)]);
    expect(upstream.requests).toHaveLength(4);
  });

  verifies('check.unknown', 'also one that takes longer than a model call may', async () => {
    await using upstream = await checkedProvider({ image: { stream: [{ text: 'Yel' }, { hang: true }] } });
    const ending = await checked({ baseURL: upstream.baseURL, stepTimeoutMs: 2_000 });
    expect([ending.code, marksOf(ending)]).toEqual([1, '✓✓✓✓✓––']);
    expect(rowOf(ending, 'image')[1]).toMatch(/longer than 2000 ms.*llm\.stepTimeoutMs/);
  });

  verifies('check.interrupt', async () => {
    await using upstream = await checkedProvider({ 'tool call': { hang: true } });
    const llm = { provider: 'openai', model: 'm', apiKey: 'k', baseURL: upstream.baseURL };
    await using folder = await agentFolder(JSON.stringify({ llm }));
    await using command = new ServiceProcess(['check', '--agent', 'agent.yml'], { cwd: folder.path });
    const hanging = await upstream.request(2);
    await command.stdout(/streaming/);
    command.kill('SIGINT');
    await hanging.aborted;
    expect(await command.ended).toMatchObject({
      code: 130,
      signal: null,
      stdout: expect.stringMatching(/✓ streaming .*\n$/),
      stderr: 'agent-service: the check was stopped\n',
    });
  });

  verifies('check.scripted', async () => {
    const told = await check(SCRIPTED, {});
    expect(told).toMatchObject({ code: 0, stderr: '' });
    expect(told.stdout).toMatch(/^agent\.yml: the scripted model .*nothing to check\.\n$/);
    const report: unknown = JSON.parse((await check(SCRIPTED, {}, '--json')).stdout);
    expect(report).toMatchObject({ provider: 'scripted', works: true, requests: 0, checks: [] });
  });

  verifies('check.scripted', 'and names the file of the folder if none was given', async () => {
    await using folder = await agentFolder(SCRIPTED);
    const unnamed = async (...flags: string[]): Promise<string> => {
      await using command = new ServiceProcess(['check', ...flags], { cwd: folder.path });
      return (await command.ended).stdout;
    };
    expect(await unnamed()).toMatch(
      /default\.yml: the scripted model .*nothing to check\.\nThis folder has an agent\.yml: check it with --agent agent\.yml\n$/,
    );
    expect(JSON.parse(await unnamed('--json'))).toMatchObject({ provider: 'scripted' });
    await rm(join(folder.path, 'agent.yml'));
    expect(await unnamed()).toMatch(/nothing to check\.\n$/);
  });
});
