import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect } from 'vitest';
import { RunningService } from '../../support/service/running-service.ts';
import { verifies } from '../requirements.ts';

const request = (method: string, path: string, more = ''): string =>
  `${method} ${path} HTTP/1.1\r\nHost: localhost\r\n${more}\r\n`;
const LAST = request('GET', '/healthz', 'Connection: close\r\n');

const HEALTHY = /^HTTP\/1\.1 200 OK\r\n.*"status":"healthy"/s;

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
    ['/healthz', '200'],
    ['/mcp', '405'],
    ['/nothing', '400'],
  ] as const)
    verifies('framing.head', `${path}, with the next requests behind it`, async () => {
      await using service = await RunningService.start();
      const socket = connect(service.port, '127.0.0.1');
      socket.write(request('HEAD', path) + request('HEAD', path) + LAST);
      const first = split(await text(socket));
      expect(first.status).toBe(status);
      expect(first.head.match(/content-length: \d+/gi)).toHaveLength(1);
      const second = split(first.rest);
      expect(second.status).toBe(status);
      expect(second.rest).toMatch(HEALTHY);
    });

  for (const [path, status] of [
    ['/', '200'],
    ['/api/health', '200'],
    ['/api/sessions/default/events', '200'],
    ['/mcp', '405'],
  ] as const)
    verifies('framing.head', `${path}, before the next request`, async () => {
      await using service = await RunningService.start();
      const socket = connect(service.port, '127.0.0.1');
      socket.write(request('HEAD', path));
      const [head]: Buffer[] = await once(socket, 'data');
      expect(split(String(head))).toMatchObject({ status, rest: '' });
      socket.write(LAST);
      expect(await text(socket)).toMatch(HEALTHY);
    });

  verifies('framing.head', 'a stream, whose length it does not say', async () => {
    await using service = await RunningService.start();
    const socket = connect(service.port, '127.0.0.1');
    const more = 'Accept: text/event-stream\r\n';
    socket.write(request('HEAD', '/api/sessions/default/events', more));
    const [first]: Buffer[] = await once(socket, 'data');
    const { status, head, rest } = split(String(first));
    expect(status).toBe('200');
    expect(head.toLowerCase()).toContain('content-type: text/event-stream');
    expect(head.toLowerCase()).not.toContain('content-length');
    expect(rest).toBe('');
    socket.write(LAST);
    expect(await text(socket)).toMatch(HEALTHY);
  });
});
