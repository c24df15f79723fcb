import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect } from 'vitest';
import { RunningService } from '../../support/service/running-service.ts';
import { verifies } from '../requirements.ts';

const request = (method: string, path: string, more = ''): string =>
  `${method} ${path} HTTP/1.1\r\nHost: localhost\r\n${more}\r\n`;
const LAST = request('GET', '/healthz', 'Connection: close\r\n');

/** The status of an answer to a `HEAD`, and what comes after its head. */
function split(answers: string): { status: string; head: string; rest: string } {
  const end = answers.indexOf('\r\n\r\n');
  const head = answers.slice(0, end);
  return {
    status: head.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length),
    head,
    rest: answers.slice(end + 4),
  };
}

describe('a HEAD', () => {
  for (const [path, status] of [
    ['/api/health', '200'],
    ['/', '200'],
    ['/mcp', '405'],
    ['/nothing', '400'],
    ['/api/sessions/default/events', '200'],
  ] as const)
    verifies(
      'framing.head',
      async () => {
        await using service = await RunningService.start();
        const pipelined = connect(service.port, '127.0.0.1');
        pipelined.write(request('HEAD', path) + request('HEAD', path) + LAST);
        const first = split(await text(pipelined));
        expect(first.status).toBe(status);
        expect(first.head.match(/content-length: \d+/gi)).toHaveLength(1);
        const second = split(first.rest);
        expect(second.status).toBe(status);
        expect(second.rest).toMatch(/^HTTP\/1\.1 200 OK\r\n.*"status":"healthy"/s);

        const kept = connect(service.port, '127.0.0.1');
        kept.write(request('HEAD', path));
        const [head]: Buffer[] = await once(kept, 'data');
        expect(split(String(head))).toMatchObject({ status, rest: '' });
        kept.write(LAST);
        expect(await text(kept)).toMatch(/^HTTP\/1\.1 200 OK\r\n.*"status":"healthy"/s);
      },
      path,
    );
});
