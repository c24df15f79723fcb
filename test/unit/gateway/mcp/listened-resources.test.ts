import { expect, it } from 'vitest';
import { scopesOf } from '../../../../src/gateway/mcp/mcp-scopes.ts';
import { listenedResources } from '../../../../src/gateway/mcp/stateless/listened-resources.ts';
import { countedList } from '../../../support/service/counted-list.ts';

const listening = (resourceSubscriptions: readonly unknown[]) => ({
  method: 'subscriptions/listen',
  params: { notifications: { resourceSubscriptions } },
});

it('a subscription that names too many resources is refused, whatever they are', () => {
  const { list, read } = countedList();
  expect(scopesOf([listening(list)], new Set())).toEqual([]);
  expect(read()).toBe(1);
  expect(() => listenedResources(listening(list))).toThrow('names too many resources');
});

it('what is no address is left to the transport', () => {
  expect(listenedResources(listening(['agent://card', 7]))).toEqual(['agent://card']);
});
