import { describe, expect, it } from 'vitest';
import { queryFields } from '../../../../src/gateway/requests/query-fields.ts';
import { SessionsQuery, StreamQuery } from '../../../../src/wire/requests.ts';

describe('a parameter that is given twice', () => {
  it.each([
    [StreamQuery, 'session=a&session=b', 'session'],
    [StreamQuery, 'after=1&time=1&after=2&after=1', 'after'],
    [SessionsQuery, 'agent=a&agent=b', 'agent'],
    [SessionsQuery, 'query=&query=x', 'query'],
  ])('is refused: %#', (schema, query, field) => {
    expect(() => queryFields(schema, query)).toThrow(
      expect.objectContaining({
        code: 'INVALID_REQUEST',
        details: expect.objectContaining({ field, issue: expect.stringContaining('is given twice') }),
      }),
    );
  });

  it('is one if it has the same value, and ignored if nobody knows it', () => {
    expect(queryFields(StreamQuery, 'session=a&session=a')).toEqual({ session: 'a' });
    expect(queryFields(StreamQuery, 'include=a&include=b&session=s')).toEqual({ include: 'b', session: 's' });
    expect(queryFields(StreamQuery, '__proto__=1')).toEqual(Object.fromEntries([['__proto__', '1']]));
  });
});
