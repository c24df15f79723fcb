import { describe, expect, it } from 'vitest';
import { requestInterrupted, serviceStopping } from '../../../../src/core/errors.ts';
import { errorText } from '../../../../src/gateway/requests/error-text.ts';

describe('an error in sentences', () => {
  it.each([
    [
      requestInterrupted(),
      'The service has stopped before it could answer. A message that was accepted is in the log, and its turn goes on after the next start. Look at the session before you send the request again.',
    ],
    [serviceStopping(), 'The service is stopping. Try again in a moment.'],
    [
      {
        code: 'AGENT_ERROR',
        message: 'It failed.',
        details: { reason: 'get-sum is away.', suggestion: 'Wait.' },
      },
      'It failed. get-sum is away. Wait.',
    ],
    [
      { code: 'UNAUTHORIZED', message: 'Nobody knows you.', details: { reason: 'missing' } },
      'Nobody knows you.',
    ],
  ] as const)('joins what it says: %#', (error, text) => {
    expect(errorText(error)).toBe(text);
  });
});
