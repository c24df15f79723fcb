import { expect, it } from 'vitest';
import { WindowLimit } from '../../../src/gateway/security/rate-limits.ts';
import { RequestTally } from '../../../src/gateway/security/request-tally.ts';

it.each([
  ['/api/sessions', true],
  ['/v1/models', true],
  ['/oauth/callback', true],
  ['/healthz', false],
  ['/', false],
])('counts a request to %s by its address: %s', (path, isCounted) => {
  const limits = { requests: new WindowLimit(1) };
  new RequestTally({ limits }, path).begin('10.0.0.1');
  const again = () => new RequestTally({ limits }, path).begin('10.0.0.1');
  if (isCounted) expect(again).toThrow(expect.objectContaining({ code: 'RATE_LIMIT_EXCEEDED' }));
  else expect(again).not.toThrow();
});
