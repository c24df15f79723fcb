import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { MessageLines } from '../../../../src/gateway/mcp/message-lines.ts';

const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}\n';

/** What is passed on of an input, and what is answered. */
async function passed(pieces: readonly string[], { maxBytes = 1_000, output = new PassThrough() } = {}) {
  const lines = new MessageLines({ output, maxBytes });
  for (const piece of pieces) lines.write(piece);
  lines.end();
  const on = await text(lines);
  output.end();
  return { on, answers: await text(output) };
}

it('lines with messages pass, however they are cut into pieces', async () => {
  const answer = '{"jsonrpc":"2.0","id":2,"result":{}}\r\n';
  const note = '{"jsonrpc":"2.0","method":"notifications/initialized"}\n';
  const whole = `${PING}\n${answer}${note}`;
  for (const pieces of [[whole], [...whole], [whole.slice(0, 50), whole.slice(50)]])
    expect(await passed(pieces)).toEqual({ on: whole, answers: '' });
});

it.each([
  ['a line of a log', -32_700],
  ['{"jsonrpc":"2.0",', -32_700],
  ['['.repeat(500), -32_700],
  [`[${PING.trim()}]`, -32_600],
  ['[]', -32_600],
  ['3', -32_600],
  ['{"id":1,"method":"ping"}', -32_600],
])('the line %s is answered, and the next one is read', async (line, code) => {
  const { on, answers } = await passed([`${line}\n${PING}`]);
  expect([on, answers.split('\n').length]).toEqual([PING, 2]);
  expect(JSON.parse(answers)).toMatchObject({ jsonrpc: '2.0', id: null, error: { code } });
});

it('what it answers is not answered if it comes back', async () => {
  const { answers } = await passed(['chatter\n']);
  expect(await passed([answers])).toEqual({ on: answers, answers: '' });
});

it('answers do not pile up for who does not read them', async () => {
  const output = new PassThrough({ highWaterMark: 10 });
  const { on, answers } = await passed(['a\n'.repeat(1_000), PING], { output });
  expect(on).toBe(PING);
  expect(answers.trim().split('\n').length).toBeLessThan(5);
});

it('a line that is too long passes before its end, for the connection to be ended', async () => {
  expect(await passed(['x'.repeat(600), 'x'.repeat(600)])).toEqual({ on: 'x'.repeat(1_200), answers: '' });
});
