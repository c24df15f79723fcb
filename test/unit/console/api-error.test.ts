import { describe, expect, it } from 'vitest';
import { refused } from '../../../src/console/service/api-error.ts';

/** An answer as `fetch` gives it, with its address. */
function answer(status: number, body: string): Response {
  const url = 'http://127.0.0.1:3001/api/sessions/s/events?after=0';
  return Object.defineProperty(new Response(body, { status }), 'url', { value: url });
}

describe('a refused request', () => {
  it('has the error of the service', async () => {
    const error = { code: 'SESSION_BUSY', message: 'It is busy.', details: { field: 'sessionId' } };
    expect(await refused(answer(409, JSON.stringify({ success: false, error })))).toMatchObject(error);
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
