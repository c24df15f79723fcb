import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chatReply } from '../../bench/support/chat-reply.ts';
import { type Contender, type Subject, startEach } from '../../bench/support/contenders.ts';
import { type HttpAnswer, HttpConnection } from '../../bench/support/http-connection.ts';
import { localUrl } from '../../bench/support/http-load.ts';
import { Scope } from '../../bench/support/scope.ts';
import {
  FLOOR,
  floor,
  PLAIN,
  PLAIN_HTTP,
  plain,
  plainHttp,
  SERVICE,
  type SubjectOptions,
  service,
} from '../../bench/support/subjects.ts';
import { Upstream } from '../../bench/support/upstream.ts';
import { framesOf, framesWith } from '../support/sockets/bench-frames.ts';

/* The benches compare the service with controls: that is fair as long as all of them do the same. */
const scope = new Scope({ quick: true });
const REPLY = { piece: ' é"chunk', pieces: 40 };
let upstream: Upstream;
let streaming: Subject[];
let scripted: Subject[];

function contenders(options: SubjectOptions): Contender[] {
  return [floor, service, plain, plainHttp].flatMap((contender) => contender(scope, options));
}

beforeAll(async () => {
  upstream = await Upstream.start(scope);
  streaming = await startEach(contenders({ upstream: upstream.url }));
  scripted = await startEach(contenders({ reply: REPLY }));
});
afterAll(() => scope.close());

/** No one leaves a frame out: without resuming, the service itself greets nobody either. */
const expected = framesWith(Array.from({ length: REPLY.pieces }, () => REPLY.piece));

/** Headers of the service that a control leaves out, and headers that it adds. Their bytes are what differs. */
const headers: Readonly<Record<string, { without: readonly string[]; with: readonly string[] }>> = {
  [FLOOR]: { without: [], with: [] },
  [PLAIN]: {
    without: ['uwebsockets', 'x-content-type-options'],
    with: ['connection', 'keep-alive'],
  },
  [PLAIN_HTTP]: {
    without: ['uwebsockets', 'x-content-type-options'],
    with: ['connection', 'keep-alive'],
  },
};

describe('service and controls', () => {
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
    'answer the same request to %s with the same body, and keep the connection',
    async (path) => {
      const answers = new Map<string, HttpAnswer[]>();
      for (const { name, server } of scripted) answers.set(name, await twoAnswers(server.port, path));
      const [first, second] = answers.get(SERVICE) ?? [];
      expect(first).toMatchObject({ status: 200, body: expect.stringContaining('"timestamp":""') });
      expect(second).toEqual(first);
      // The floor to the byte.
      expect(answers.get(FLOOR)).toEqual([first, second]);
      for (const name of [PLAIN, PLAIN_HTTP])
        expect(
          answers.get(name)?.map(({ status, body }) => ({ status, body })),
          name,
        ).toEqual([first, second].map((answer) => ({ status: answer?.status, body: answer?.body })));
      for (const [name, differing] of Object.entries(headers)) {
        const [served, controlled] = [first, answers.get(name)?.[0]].map(headerNames);
        expect(
          served?.filter((header) => !controlled?.includes(header)),
          name,
        ).toEqual(differing.without);
        expect(
          controlled?.filter((header) => !served?.includes(header)),
          name,
        ).toEqual(differing.with);
      }
    },
  );
});

/** Over one connection. Without what differs from one moment to the next. */
async function twoAnswers(port: number, path: string): Promise<HttpAnswer[]> {
  const connection = new HttpConnection(localUrl(port));
  const request = { path, body: JSON.stringify({ message: 'hello', sessionId: 'x' }) };
  const timeless = (text: string): string =>
    text.replace(/"timestamp":"[^"]{24}"/, '"timestamp":""').replace(/Date: .*/, 'Date:');
  try {
    const answers = [await connection.request(request), await connection.request(request)];
    return answers.map(({ status, head, body }) => ({ status, head: timeless(head), body: timeless(body) }));
  } finally {
    connection.close();
  }
}

function headerNames(answer: HttpAnswer | undefined): string[] {
  const lines = answer?.head.trim().split('\r\n').slice(1) ?? [];
  return lines.map((line) => line.slice(0, line.indexOf(':')).toLowerCase()).sort();
}
