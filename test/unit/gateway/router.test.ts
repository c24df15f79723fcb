import { describe, expect, it } from 'vitest';
import { type Route, Router } from '../../../src/gateway/http/router.ts';

const route = (method: Route['method'], path: string): Route => ({
  method,
  path,
  access: 'open',
  handler: async () => ({ status: 200, headers: {}, body: path }),
});

const router = new Router([
  route('POST', '/tasks/:taskId:cancel'),
  route('GET', '/tasks/:taskId:subscribe'),
  route('GET', '/tasks/:taskId'),
]);

function found(method: string, path: string) {
  const { route: matching, parameters } = router.find({ method, path });
  return [matching.path, parameters];
}

describe('the router', () => {
  it('finds a route by the verb at the end of a segment', () => {
    expect(found('POST', '/tasks/a:cancel')).toEqual(['/tasks/:taskId:cancel', { taskId: 'a' }]);
    expect(found('GET', '/tasks/a:subscribe')).toEqual(['/tasks/:taskId:subscribe', { taskId: 'a' }]);
    expect(found('GET', '/tasks/a:b')).toEqual(['/tasks/:taskId', { taskId: 'a:b' }]);
  });

  it('takes an encoded colon for a part of the parameter', () => {
    expect(found('GET', '/tasks/a%3Asubscribe')).toEqual(['/tasks/:taskId', { taskId: 'a:subscribe' }]);
    expect(found('POST', '/tasks/a%2Fb:cancel')).toEqual(['/tasks/:taskId:cancel', { taskId: 'a/b' }]);
  });

  it('refuses a verb without a parameter, and one that has another method', () => {
    expect(() => router.find({ method: 'POST', path: '/tasks/:cancel' })).toThrow('does not answer POST');
    expect(() => router.find({ method: 'DELETE', path: '/tasks/a:cancel' })).toThrow(
      'does not answer DELETE',
    );
    expect(() => router.find({ method: 'POST', path: '/jobs/a:cancel' })).toThrow('There is nothing at');
  });

  it('says that only a slash at the end is too much', () => {
    const fixed = new Router([route('POST', '/api/reset'), route('GET', '/tasks/:taskId')]);
    const suggestionOf = (path: string): unknown => {
      try {
        return fixed.find({ method: 'GET', path });
      } catch (error) {
        return (error as { details?: { suggestion?: unknown } }).details?.suggestion;
      }
    };
    for (const path of ['/api/reset/', '/tasks/a/'])
      expect(suggestionOf(path)).toBe('Remove the / at the end.');
    for (const path of ['/api/', '/tasks/', '/tasks//', '/'])
      expect(suggestionOf(path)).toContain('the service has /mcp');
  });

  it('says which paths there are, and sends nobody to documents that it does not serve', () => {
    const find = (path: string) => () =>
      new Router([route('GET', path)]).find({ method: 'GET', path: '/api/sessions' });
    const suggesting = (start: string) =>
      expect.objectContaining({
        details: expect.objectContaining({ suggestion: expect.stringContaining(start) }),
      });
    expect(find('/docs')).toThrow(suggesting('See GET /docs'));
    expect(find('/healthz')).toThrow(suggesting('With --mode mcp the service has'));
  });
});
