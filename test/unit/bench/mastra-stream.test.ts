import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextLoop } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { EventReplyStream } from '../../../bench/support/event-reply-stream.ts';
import { mastraReplies } from '../../../bench/support/mastra-protocol.ts';
import { streamTurns } from '../../../bench/support/streamed-turns.ts';
import { oneTurn } from '../../../bench/support/turns.ts';

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** Events of Mastra 1.71, shortened where the adapter does not look. */
function eventsOf(pieces: readonly string[]): string[] {
  const envelope = { runId: '2a656a93', from: 'AGENT' };
  return [
    { type: 'start', ...envelope, payload: { id: 'bench' } },
    { ...envelope, type: 'step-start', payload: { warnings: [], request: {} } },
    ...pieces.map((text) => ({ type: 'text-delta', ...envelope, payload: { id: 'txt-0', text } })),
    { type: 'finish', ...envelope, payload: { output: { text: pieces.join('') } } },
  ].map((event) => `data: ${JSON.stringify(event)}\n\n`);
}

interface Asked {
  readonly url: string | undefined;
  readonly body: string;
}

/** Streams these texts as HTTP chunks in answer to each request, and keeps what was asked. */
async function serverOf(chunks: readonly string[], status = 200): Promise<{ port: number; asked: Asked[] }> {
  const asked: Asked[] = [];
  const server = createServer(async (req, res) => {
    let body = '';
    for await (const chunk of req) body += chunk;
    asked.push({ url: req.url, body });
    res.writeHead(status, { 'Content-Type': 'text/event-stream' });
    for (const chunk of chunks) {
      res.write(chunk);
      await nextLoop();
    }
    res.end();
  }).listen(0, '127.0.0.1');
  closers.push(
    () => server.close(),
    () => server.closeAllConnections(),
  );
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, asked };
}

async function openStream(port: number): Promise<EventReplyStream> {
  const stream = await EventReplyStream.open(mastraReplies, port);
  closers.push(() => stream.drop());
  return stream;
}

describe('a stream of Mastra', () => {
  const pieces = ['The', ' é"nd', ' of "text":"', '\n', '}}'];
  const load = { streams: 1, pieces };

  it.each([
    ['event by event', eventsOf(pieces)],
    ['in one piece', [eventsOf(pieces).join('')]],
    [
      'in pieces of seven characters',
      eventsOf(pieces)
        .join('')
        .match(/[\s\S]{1,7}/g) ?? [],
    ],
  ])('is a turn with all texts when it comes %s', async (_, chunks) => {
    const { port, asked } = await serverOf(chunks);
    const stream = await openStream(port);
    // A second reply over the same connection.
    expect((await streamTurns([stream, stream], load)).operations).toBe(2 * pieces.length);
    expect(asked[1]).toEqual({
      url: '/api/agents/bench/stream',
      body: '{"messages":[{"role":"user","content":"stream"}]}',
    });
  });

  it('rejects when a text is missing', async () => {
    const { port } = await serverOf(eventsOf(pieces.slice(1)));
    await expect(streamTurns([await openStream(port)], load)).rejects.toThrow('bytes came instead of');
  });

  it('fails with an answer of another status, and with an error in the stream', async () => {
    const refused = await serverOf(['no'], 500);
    await expect(oneTurn(await openStream(refused.port), 'stream')).rejects.toThrow('500');
    const failed = await serverOf(['data: {"type":"error","payload":{"error":"no model"}}\n\n']);
    await expect(oneTurn(await openStream(failed.port), 'stream')).rejects.toThrow('no model');
  });
});
