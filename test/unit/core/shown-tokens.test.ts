import { expect, it } from 'vitest';
import { withoutTokens } from '../../../src/core/access/shown-tokens.ts';
import { ServiceError } from '../../../src/core/errors.ts';

const JWT = 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZGEifQ.c2ln';

it('an error does not repeat a credential, wherever a client has put it', () => {
  const error = new ServiceError('TOOL_EXECUTION_FAILED', `No ${JWT}.`, {
    reason: `401\n${JWT}`,
    tried: [`as_ABCDEFGH_${'a'.repeat(38)}`],
  });
  const { message, details } = error.withoutTokens;
  expect([message, details]).toEqual(['No [token].', { reason: '401\n[token]', tried: ['[token]'] }]);
  const other = new ServiceError('INVALID_REQUEST', 'No.');
  expect(other.withoutTokens).toBe(other);
});

// Each beginning would be followed to the end of the text otherwise, which takes minutes.
it('a long text that resembles many credentials is read in one go', () => {
  const text = 'eyJ-'.repeat(250_000);
  expect(withoutTokens(text)).toBe(text);
});
