import { expect, it } from 'vitest';
import { ListTasksRequest } from '../../../../src/gateway/a2a/a2a-requests.ts';

it.each([5, '5'])('a number is a number, also in a query: %j', (count) => {
  expect(ListTasksRequest.parse({ pageSize: count, historyLength: count })).toMatchObject({
    pageSize: 5,
    historyLength: 5,
  });
});

it.each(['', '1e2', ' 5', '-1', true, [], null, 1.5, -1])('what is none is refused: %j', (count) => {
  expect(ListTasksRequest.safeParse({ historyLength: count }).success).toBe(count === null);
  expect(ListTasksRequest.safeParse({ pageSize: count }).success).toBe(count === null);
});
