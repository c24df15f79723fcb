import { describe, expect, it } from 'vitest';
import { refused } from '../../../src/console/service/api-error.ts';

/** An answer as `fetch` gives it, with its address. */
function answer(status: number, body: string, headers: Record<string, string> = {}): Response {
  const url = 'http://127.0.0.1:3001/api/sessions/s/events?after=0';
  return Object.defineProperty(new Response(body, { status, headers }), 'url', { value: url });
}

describe('a refused request', () => {
  it('has the error of the service', async () => {
    const error = { code: 'SESSION_BUSY', message: 'It is busy.', details: { field: 'sessionId' } };
    expect(await refused(answer(409, JSON.stringify({ success: false, error })))).toMatchObject(error);
  });

  it('has the time after which the service may be asked again', async () => {
    const error = { code: 'RATE_LIMIT_EXCEEDED', message: 'Too many.', details: { limit: 100 } };
    const body = JSON.stringify({ success: false, error });
    const { details } = await refused(answer(429, body, { 'Retry-After': '40' }));
    expect(details).toEqual({ limit: 100, retryAfter: 40 });
    const date = 'Sun, 29 Nov 2026 16:00:00 GMT';
    const dated = await refused(answer(429, body, { 'Retry-After': date }));
    expect(dated.details).toEqual({ limit: 100 });
  });

  it.each([
    [502, '<html>Bad gateway</html>', 'SERVICE_UNAVAILABLE'],
    [503, '{"error": "no upstream"}', 'SERVICE_UNAVAILABLE'],
    [504, '', 'SERVICE_UNAVAILABLE'],
    [408, 'timeout', 'SERVICE_UNAVAILABLE'],
    [429, 'slow down', 'RATE_LIMIT_EXCEEDED'],
    [401, 'who are you?', 'UNAUTHORIZED'],
    [404, 'not found', 'INVALID_REQUEST'],
  ])('of a proxy has a code for what its status means: %d', async (status, body, code) => {
    const error = await refused(answer(status, body));
    expect(error).toMatchObject({ code, details: { status } });
    expect(error.message).toContain('http://127.0.0.1:3001/api/sessions/s/events');
    expect(error.message).toContain(String(status));
  });

  it('whose text does not arrive is told by its status', async () => {
    const broken = answer(502, '');
    Object.defineProperty(broken, 'text', { value: () => Promise.reject(new TypeError('terminated')) });
    expect(await refused(broken)).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  });
});
