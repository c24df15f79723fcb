import { once } from 'node:events';
import { expect, test } from 'vitest';
import { said, testConnector } from '../../support/tools/mcp/connecting.ts';
import { answerInStream, done, scriptedServer } from '../../support/tools/mcp/scripted-http-server.ts';

test('the stream of a request that the server leaves open after its answer is closed', async () => {
  const closed: Promise<unknown>[] = [];
  await using server = await scriptedServer({
    call: (res, id) => {
      closed.push(once(res, 'close'));
      answerInStream(res, { id, result: done });
    },
  });
  const { connect, closings } = testConnector();
  const connection = await connect({ type: 'http', baseUrl: server.url });
  for (const _ of [1, 2, 3]) expect(said(await connection.callTool('tool', {}))).toBe('done');
  await Promise.all(closed);
  expect(said(await connection.callTool('tool', {}))).toBe('done');
  expect(closings).toEqual([]);
  await connection.close();
});
