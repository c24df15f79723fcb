import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chatReply } from '../../bench/support/chat-reply.ts';
import type { Subject } from '../../bench/support/contenders.ts';
import { HttpConnection } from '../../bench/support/http-connection.ts';
import { localUrl } from '../../bench/support/http-load.ts';
import { Scope } from '../../bench/support/scope.ts';
import { FLOOR, PLAIN, SERVICE, startAll } from '../../bench/support/subjects.ts';
import { Upstream } from '../../bench/support/upstream.ts';
import { framesOf, framesWith } from '../support/sockets/bench-frames.ts';

/* The benches compare the service with two controls: that is fair as long as all three do the same. */
const scope = new Scope({ quick: true });
const REPLY = { piece: ' é"chunk', pieces: 40 };
let upstream: Upstream;
let streaming: Subject[];
let scripted: Subject[];

beforeAll(async () => {
  upstream = await Upstream.start(scope);
  streaming = await startAll(scope, { upstream: upstream.url });
  scripted = await startAll(scope, { reply: REPLY });
});
afterAll(() => scope.close());

const expected = framesWith(Array.from({ length: REPLY.pieces }, () => REPLY.piece));

describe('floor, service and plain', () => {
  it.each(['burst', 'framed', 'paced'] as const)(
    'send the same frames of a reply that comes %s',
    async (shape) => {
      upstream.packets = chatReply(shape, REPLY.piece, REPLY.pieces);
      for (const subject of streaming) expect(await framesOf(subject, shape), subject.name).toEqual(expected);
    },
  );

  it('send the same frames of a scripted reply', async () => {
    for (const subject of scripted)
      expect(await framesOf(subject, 'scripted'), subject.name).toEqual(expected);
  });

  it.each(['/api/message-sync', '/api/message'])(
    'answer the same request to %s with the same body',
    async (path) => {
      const answers = new Map<string, { status: number; body: string; head: string }>();
      for (const { name, server } of scripted) {
        const connection = new HttpConnection(localUrl(server.port));
        const body = JSON.stringify({ message: 'hello', sessionId: 'x' });
        const answer = await connection.request({ path, body }).finally(() => connection.close());
        const timeless = (text: string): string =>
          text.replace(/"timestamp":"[^"]{24}"/, '"timestamp":""').replace(/Date: .*/, 'Date:');
        answers.set(name, { ...answer, head: timeless(answer.head), body: timeless(answer.body) });
      }
      const service = answers.get(SERVICE);
      expect(service).toMatchObject({ status: 200, body: expect.stringContaining('"timestamp":""') });
      // The floor to the byte; express has headers of its own.
      expect(answers.get(FLOOR)).toEqual(service);
      expect(answers.get(PLAIN)).toMatchObject({ status: 200, body: service?.body });
    },
  );
});
