import { expect, test } from 'vitest';
import type { ToolProgress } from '../../../src/core/tool-call/tool-progress.ts';
import { eventually } from '../../support/project/eventually.ts';
import { said, testConnector } from '../../support/tools/mcp/connecting.ts';
import { oddServer, scriptableServer } from '../../support/tools/mcp/tool-servers.ts';

const SECRET = 'note-secret-4c1d';

async function connected() {
  const connector = testConnector();
  const connection = await connector.connect(scriptableServer({ env: { API_TOKEN: SECRET } }));
  return { ...connector, connection };
}

test.concurrent('tells what the server logs and writes, without its secrets', async () => {
  const { connection, notes } = await connected();
  expect(said(await connection.callTool('log', { text: `key ${SECRET} is old` }))).toBe('logged');
  await connection.close();
  expect(notes).toContainEqual({
    source: 'log',
    level: 'warning',
    logger: 'script',
    text: '{"said":"key *** is old"}',
  });
  expect(notes).toContainEqual({ source: 'stderr', text: 'key *** is old' });
});

test.concurrent('tells what the server asks, and refuses it', async () => {
  const { connection, notes } = await connected();
  const params = { messages: [], maxTokens: 5, note: SECRET };
  for (const method of ['sampling/createMessage', 'elicitation/create', 'roots/list'])
    expect(said(await connection.callTool('ask', { method, params }))).toBe('-32601');
  await connection.close();
  expect(notes.filter(({ source }) => source === 'request')).toEqual(
    ['sampling/createMessage', 'elicitation/create', 'roots/list'].map((method) => ({
      source: 'request',
      method,
      text: '{"messages":[],"maxTokens":5,"note":"***"}',
      answer: 'refused: this service does not offer it to tool servers',
    })),
  );
});

test.concurrent('answers a ping of the server, which is no question', async () => {
  const { connection, notes } = await connected();
  expect(said(await connection.callTool('ask', { method: 'ping' }))).toBe('it was not refused');
  await connection.close();
  expect(notes.filter(({ source }) => source === 'request')).toEqual([]);
});

test.concurrent('tells the last words of a server that does not start, and no line that is too long', async () => {
  const { connect, notes } = testConnector();
  await expect(connect(oddServer(['exits', 'x'.repeat(50_000)]))).rejects.toThrow('first line');
  const texts = notes.map(({ text }) => text).filter((text) => !text.startsWith('pids'));
  expect(texts[0]).toBe('first line');
  expect(texts[1]?.length).toBe(2_000);
});

test.concurrent('tells a few of the lines on stdout that are no messages', async () => {
  const { connect, notes } = testConnector();
  const connection = await connect(oddServer(['garbage']));
  await eventually(
    async () => notes,
    (all) => all.filter(({ source }) => source === 'stdout').length >= 10,
  );
  await connection.close();
  const lines = notes.filter(({ source }) => source === 'stdout');
  expect(lines).toEqual(Array(10).fill({ source: 'stdout', text: 'not json' }));
});

test.concurrent('tells the progress of a call', async () => {
  const { connection } = await connected();
  const heard: ToolProgress[] = [];
  const enough = Promise.withResolvers<void>();
  const abort = new AbortController();
  const onProgress = (progress: ToolProgress) => {
    heard.push(progress);
    if (heard.length === 3) enough.resolve();
  };
  const call = connection.callTool(
    'slow',
    { ms: 60_000, progressEveryMs: 5 },
    { signal: abort.signal, onProgress },
  );
  await enough.promise;
  abort.abort();
  await call;
  await connection.close();
  expect(heard.slice(0, 3)).toEqual([{ progress: 1 }, { progress: 2 }, { progress: 3 }]);
});
