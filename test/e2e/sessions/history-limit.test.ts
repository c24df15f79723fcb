import { describe, expect } from 'vitest';
import { textReply, toolCallReply, type UpstreamRequest } from '../../support/models/openai-upstream.ts';
import { SYSTEM_PROMPT, UpstreamService } from '../../support/service/upstream-service.ts';
import { viewOf } from '../../support/sessions/session-api.ts';
import { scriptableServer } from '../../support/tools/mcp/tool-servers.ts';
import { verifies } from '../requirements.ts';

/** By the estimate of docs/agent-file.md: four characters a token, and four tokens around each message. */
const SYSTEM_TOKENS = Math.ceil(SYSTEM_PROMPT.length / 4);
const TEXT_CHARACTERS = 36;
const MESSAGE_TOKENS = TEXT_CHARACTERS / 4 + 4;
const TURN_TOKENS = 2 * MESSAGE_TOKENS;

const text = (name: string): string => name.padEnd(TEXT_CHARACTERS, '.');
const system = { role: 'system', content: SYSTEM_PROMPT };
const user = (turn: number) => ({ role: 'user', content: text(`question ${turn}`) });
const assistant = (turn: number) => ({ role: 'assistant', content: text(`answer ${turn}`) });
const turns = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, index) => [
    user(first + index),
    assistant(first + index),
  ]).flat();

function open(maxTokens: number | undefined, more: object = {}): Promise<UpstreamService> {
  return UpstreamService.open({}, { ...(maxTokens !== undefined && { history: { maxTokens } }), ...more });
}

async function say({ service }: UpstreamService, message: string): Promise<void> {
  expect((await service.post('/api/message-sync', { message })).status).toBe(200);
}

/** What the model is shown with the fourth message of a conversation. */
async function fourthRequest(maxTokens?: number): Promise<UpstreamRequest['body']['messages']> {
  await using setup = await open(maxTokens);
  for (const turn of [1, 2, 3, 4]) {
    setup.upstream.replyWith(textReply(text(`answer ${turn}`)));
    await say(setup, text(`question ${turn}`));
  }
  // The log keeps what the model is not shown.
  expect((await viewOf(setup.service, 'default')).history).toHaveLength(8);
  return (await setup.upstream.request(3)).body.messages;
}

describe('history.maxTokens of the agent file', () => {
  const enough = SYSTEM_TOKENS + 2 * TURN_TOKENS + MESSAGE_TOKENS;
  const cases: [string, number | undefined, object[]][] = [
    ['just enough for two turns before it', enough, turns(2, 3)],
    ['one token less', enough - 1, turns(3, 3)],
    ['one token more', enough + 1, turns(2, 3)],
    ['just enough for all', enough + TURN_TOKENS, turns(1, 3)],
    ['enough for the message alone', SYSTEM_TOKENS + MESSAGE_TOKENS, []],
    ['enough for nothing', 1, []],
    ['left out', undefined, turns(1, 3)],
  ];
  for (const [what, maxTokens, shown] of cases) {
    verifies('model.history', what, async () =>
      expect(await fourthRequest(maxTokens)).toEqual([system, ...shown, user(4)]),
    );
  }

  verifies('model.history', 'a message that is too long by itself is shown whole', async () => {
    await using setup = await open(50);
    await say(setup, 'an old question');
    const long = 'a long question '.repeat(1_000);
    await say(setup, long);
    expect((await setup.upstream.request(1)).body.messages).toEqual([
      system,
      { role: 'user', content: long },
    ]);
  });

  verifies(
    'model.history',
    'of a long window a quarter at once, so that requests begin alike for as long as they can',
    async () => {
      await using setup = await open(SYSTEM_TOKENS + 4_096);
      const { upstream } = setup;
      upstream.otherwise = () => textReply(text('yes'));
      // With its answer, a fiftieth of the limit.
      const ofLength = (turn: number): string => `${turn}`.padEnd(4 * 65, '.');
      for (let turn = 0; turn < 90; turn += 1) await say(setup, ofLength(turn));
      const oldest = upstream.requests.map(({ body }) => body.messages[1]?.content);
      // The first of them is shown as long as all fits. Then 13 turns go each time.
      expect([...new Set(oldest)]).toEqual([0, 13, 25, 38, 50].map(ofLength));
    },
  );

  verifies('model.history', 'a tool call stays with its result', async () => {
    const maxTokens = 400;
    await using setup = await open(maxTokens, { mcpServers: { tools: scriptableServer() } });
    const { upstream } = setup;
    upstream.otherwise = ({ body: { messages } }) => {
      const length = Number(/^echo (\d+)$/.exec(String(messages.at(-1)?.content))?.[1]);
      const call = { id: `call_${length}`, name: 'echo', arguments: { message: 'x'.repeat(length) } };
      return length > 0 ? toolCallReply([call]) : textReply(text('It said so.'));
    };
    // Of lengths that put the beginning of the window at every place of a turn.
    for (let turn = 0; turn < 24; turn += 1) await say(setup, `echo ${1 + ((turn * 37) % 200)}`);

    expect(upstream.requests).toHaveLength(48);
    for (const [index, { body }] of upstream.requests.entries()) {
      const [first, second, ...rest] = body.messages;
      expect([first, second?.role]).toEqual([system, 'user']);
      expect(rest.at(-1)?.role ?? 'user').toBe(index % 2 === 0 ? 'user' : 'tool');
      expect(calledIn(body)).toEqual(answeredIn(body));
      expect(charactersIn(body)).toBeLessThanOrEqual(4 * maxTokens);
    }
    // It was cut at all, and not to the newest message alone.
    const lengths = upstream.requests.slice(24).map(({ body }) => body.messages.length);
    expect(Math.min(...lengths)).toBeGreaterThan(4);
    expect(Math.max(...lengths)).toBeLessThan(40);
  });

  verifies('model.history', 'the newest step of the running turn is shown whatever its size', async () => {
    await using setup = await open(30, { mcpServers: { tools: scriptableServer() } });
    const { upstream } = setup;
    await say(setup, 'an old question');
    const message = 'x'.repeat(4_000);
    upstream.replyWith(toolCallReply([{ id: 'call_a', name: 'echo', arguments: { message } }]));
    await say(setup, 'echo it');
    const { messages } = (await upstream.request(2)).body;
    expect(messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool']);
    expect(messages.at(1)).toEqual({ role: 'user', content: 'echo it' });
    expect(messages.at(-1)).toMatchObject({ tool_call_id: 'call_a', content: message });
  });
});

type Body = UpstreamRequest['body'];

function calledIn({ messages }: Body): unknown[] {
  return messages.flatMap(({ tool_calls: calls }) => (Array.isArray(calls) ? calls.map(({ id }) => id) : []));
}

function answeredIn({ messages }: Body): unknown[] {
  return messages.flatMap(({ role, tool_call_id: id }) => (role === 'tool' ? [id] : []));
}

function charactersIn({ messages }: Body): number {
  return messages.reduce((sum, { content }) => sum + String(content ?? '').length, 0);
}
