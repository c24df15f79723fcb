import { createServer } from 'node:http';
import { expect, it } from 'vitest';
import { readOpening } from '../../../src/cli/chat/opening.ts';
import { closeAtOnce, listenLocally, originOf } from '../../support/sockets/local-server.ts';

it('what the service tells the model about a reply that does not fit is not said by the person', async () => {
  const history = [
    { role: 'user', content: 'Which colour?' },
    { role: 'assistant', content: 'Red!' },
    { role: 'user', content: 'Your reply does not fit.', correction: true },
    { role: 'assistant', content: '{"colour":"red"}' },
  ];
  const session = { head: 6, openTurnId: null, approvals: [], history };
  const server = createServer((_, response) => response.end(JSON.stringify({ session })));
  await listenLocally(server);
  try {
    const opening = await readOpening({ url: originOf(server) }, 's');
    expect(opening.history.map(({ role }) => role)).toEqual(['user', 'assistant', 'service', 'assistant']);
  } finally {
    await closeAtOnce(server);
  }
});
