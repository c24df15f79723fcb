/*
 * An MCP server over stdio that misbehaves in the way its first argument says. It does without the SDK,
 * which would not let it, and starts in no time.
 */
import { spawn } from 'node:child_process';
import { closeSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly cursor?: string; readonly name?: string; readonly arguments?: unknown };
}

const [behaviour = '', ...rest] = process.argv.slice(2);
const send = (message: object, then?: () => void) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`, then);
const tool = (name: string) => ({ name, inputSchema: { type: 'object' } });
const stayAlive = () => setInterval(() => undefined, 1_000);

/** What is done before the first message is read. */
const openings: Record<string, () => void> = {
  /** Says something on stderr and leaves. */
  exits: () => {
    writeSync(2, `first line\n${rest.join('\n')}\n`);
    process.exit(3);
  },
  /** Writes without end and without a newline. */
  floods: () => {
    const block = 'x'.repeat(1024 * 1024);
    const pour = () => process.stdout.write(block, pour);
    pour();
  },
  /** Writes lines to stdout that are no messages. */
  garbage: () => process.stdout.write(`${'not json\n'.repeat(1_000)}\n{"json":"but no message"}\n[]\n`),
  /** Complains on stderr, a lot. */
  chatty: () => writeSync(2, 'complaint\n'.repeat(5_000)),
  /** Ends only when it must, and so does its child. */
  stubborn: () => {
    process.on('SIGTERM', () => undefined);
    stayAlive();
  },
  /** Leaves a child behind and exits when its input ends. */
  launcher: () => undefined,
  /** Ends when its first message is not the handshake that it knows. */
  strict: () => undefined,
  /** Says nothing to what it does not know. */
  ignorant: () => undefined,
  silent: () => writeSync(2, 'thinking about it\n'),
};

/** What is done after the tools were listed. */
const farewells: Record<string, () => void> = {
  /** Done with talking, but not with its life. */
  'closes-output': () => closeSync(1),
  /** Done with listening. */
  'closes-input': () => {
    stayAlive();
    closeSync(0);
    writeSync(2, 'deaf now\n');
  },
};

const pages: Record<string, { tools: unknown[]; nextCursor?: string | null }> = {
  first: { tools: [tool('one'), tool('two')], nextCursor: 'second' },
  second: { tools: [tool('three')], nextCursor: 'third' },
  third: { tools: [tool('four')], nextCursor: null },
};

let listed = 0;

/** Answers to `tools/list`. */
const lists: Record<string, (cursor: string | undefined) => unknown> = {
  pages: (cursor) => pages[cursor ?? 'first'],
  /** A change that the model does not see, from the third list on. */
  retitled: () => {
    listed += 1;
    return { tools: [{ ...tool('one'), title: listed < 3 ? 'One' : 'The one' }] };
  },
  circle: () => ({ tools: [], nextCursor: 'again' }),
  'odd-tools': () => ({
    tools: [
      { name: 'bare' },
      { ...tool('untyped'), inputSchema: { properties: {} } },
      { ...tool('listed'), inputSchema: [] },
      { description: 'has no name' },
      { ...tool('bad-output'), outputSchema: { type: 'object', $ref: '#/nowhere' } },
      { ...tool('liar'), outputSchema: { type: 'object', required: ['sum'] } },
    ],
  }),
};

/** Answers to `tools/call`. */
const results: Record<string, unknown> = {
  liar: { content: [], structuredContent: { other: 1 }, _meta: { secret: true } },
  bare: {
    content: [{ type: 'hologram', data: 1, _meta: { a: 1 } }],
    structuredContent: null,
    _meta: { secret: true },
  },
  nonsense: { content: 'not a list' },
};

/** Answers to `tools/call` that break the rules of JSON-RPC. */
const invalidAnswers: Record<string, object> = {
  'error-of-text': { error: { code: 'ENOENT', message: `no such file, ${process.env.API_TOKEN}` } },
  'error-is-text': { error: 'out of order' },
  'null-result': { result: null },
};

function answer({ method, params }: Message): unknown {
  switch (method) {
    case 'initialize':
      return {
        protocolVersion: '2025-06-18',
        capabilities: behaviour === 'toolless' ? {} : { tools: {} },
        serverInfo: { name: 'odd', version: '1' },
      };
    case 'tools/list':
      return lists[behaviour]?.(params?.cursor) ?? { tools: [] };
    case 'tools/call':
      return results[params?.name ?? ''] ?? { content: [{ type: 'text', text: JSON.stringify(params) }] };
    default:
      return {};
  }
}

function receive(message: Message): void {
  if (message.id === undefined || behaviour === 'silent') return;
  if (message.method === 'server/discover') {
    if (behaviour === 'strict') process.exit(4);
    if (behaviour === 'ignorant') return;
  }
  if (message.method === 'tools/call' && message.params?.name === 'refused') {
    send({ id: message.id, error: { code: -32602, message: 'MCP error -32602: no such tool' } });
    return;
  }
  const invalid = message.method === 'tools/call' && invalidAnswers[message.params?.name ?? ''];
  if (invalid) {
    send({ id: message.id, ...invalid });
    return;
  }
  send({ id: message.id, result: answer(message) }, () => {
    if (message.method === 'tools/list') farewells[behaviour]?.();
  });
}

if (rest[0] === 'with-child') {
  const ignoreTerm = "process.on('SIGTERM', () => {});";
  const code = `${behaviour === 'stubborn' ? ignoreTerm : ''} setInterval(() => {}, 1000)`;
  const child = spawn(process.execPath, ['-e', code], { stdio: 'ignore' });
  writeSync(2, `pids ${process.pid} ${child.pid}\n`);
} else {
  writeSync(2, `pids ${process.pid}\n`);
}
openings[behaviour]?.();
createInterface({ input: process.stdin }).on('line', (line) => receive(JSON.parse(line)));
if (behaviour === 'launcher') process.stdin.once('end', () => process.exit(0));
