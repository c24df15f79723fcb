import { expect, it } from 'vitest';
import { scopesOf } from '../../../src/gateway/mcp/mcp-scopes.ts';

const call = (name: string) => ({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name } });

it('a body of JSON-RPC needs the scopes of its calls, and nothing for what the agent does not have', () => {
  expect(scopesOf([call('chat_with_agent')])).toEqual(['sessions:write']);
  expect(scopesOf([call('nothing'), call('reset_conversation')])).toEqual(['sessions:write']);
  for (const name of ['constructor', '__proto__', 'toString']) expect(scopesOf([call(name)])).toEqual([]);
  expect(scopesOf([undefined, null, 'x', {}])).toEqual([]);
});
