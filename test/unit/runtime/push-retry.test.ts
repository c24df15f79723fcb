import { describe, expect, it } from 'vitest';
import { MAX_RETRY_MS, MAX_TRIES, nextTryMs, verdictOn } from '../../../src/runtime/push/push-retry.ts';

const NOW = Date.parse('2026-11-24T12:00:00Z');
const soon = { failures: 1, since: NOW };
const most = () => 1;

describe('an answer to a push notification', () => {
  it('takes, refuses, ends or delays', () => {
    const verdicts = [200, 202, 204, 301, 302, 400, 401, 404, 408, 410, 413, 425, 429, 500, 503].map(
      (status) => [status, verdictOn(status)],
    );
    expect(Object.fromEntries(verdicts)).toEqual({
      200: 'delivered',
      202: 'delivered',
      204: 'delivered',
      301: 'refused',
      302: 'refused',
      400: 'refused',
      401: 'refused',
      404: 'refused',
      413: 'refused',
      408: 'again',
      425: 'again',
      429: 'again',
      500: 'again',
      503: 'again',
      410: 'gone',
    });
  });
});

describe('the next try of a push notification', () => {
  it('comes later each time, up to five minutes', () => {
    const waits = [1, 2, 3, 4, 9, 10, 14].map((failures) => nextTryMs({ failures, since: NOW }, NOW, most));
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 256_000, 300_000, 300_000]);
    expect(nextTryMs(soon, NOW, () => 0)).toBe(500);
  });

  it('waits as long as the receiver says', () => {
    expect(nextTryMs({ ...soon, retryAfter: '120' }, NOW, most)).toBe(120_000);
    const retryAfter = new Date(NOW + 90_000).toUTCString();
    expect(nextTryMs({ ...soon, retryAfter }, NOW, most)).toBe(90_000);
    for (const header of ['0', 'soon', '-5', new Date(NOW - 5_000).toUTCString()])
      expect(nextTryMs({ ...soon, retryAfter: header }, NOW, most)).toBe(1_000);
  });

  it('does not come after too many tries, or too late', () => {
    expect(nextTryMs({ failures: MAX_TRIES - 1, since: NOW }, NOW)).not.toBeNull();
    expect(nextTryMs({ failures: MAX_TRIES, since: NOW }, NOW)).toBeNull();
    expect(nextTryMs({ failures: 3, since: NOW }, NOW + MAX_RETRY_MS)).toBeNull();
    expect(nextTryMs({ ...soon, retryAfter: '3600' }, NOW)).toBe(MAX_RETRY_MS);
    expect(nextTryMs({ ...soon, retryAfter: '3601' }, NOW)).toBeNull();
  });
});
