import { expect, it } from 'vitest';
import { scopesOf } from '../../../src/gateway/mcp/mcp-scopes.ts';

const call = (name: string) => ({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name } });
const AGENT = new Set(['agent'] as const);
const ALL = new Set(['agent', 'tools', 'resources', 'prompts'] as const);

it('a body of JSON-RPC needs the scopes of its calls, and nothing for what the agent does not have', () => {
  expect(scopesOf([call('chat_with_agent')], AGENT)).toEqual(['sessions:write', 'sessions:read']);
  expect(scopesOf([call('nothing'), call('reset_conversation')], AGENT)).toEqual(['sessions:write']);
  for (const name of ['constructor', '__proto__', 'toString'])
    expect(scopesOf([call(name)], AGENT)).toEqual([]);
  expect(scopesOf([undefined, null, 'x', {}], AGENT)).toEqual([]);
});

it('what is passed on to a tool server needs the scopes to look its name up, and to execute tools', () => {
  expect(scopesOf([call('chat_with_agent'), call('constructor')], ALL)).toEqual([
    'sessions:write',
    'sessions:read',
    'servers:read',
    'tools:execute',
  ]);
  const read = { method: 'resources/read', params: { uri: 'file:///a' } };
  const prompt = { method: 'prompts/get', params: { name: 'a' } };
  const complete = { method: 'completion/complete', params: { ref: { type: 'ref/prompt', name: 'a' } } };
  for (const message of [read, prompt, complete])
    expect(scopesOf([message], ALL)).toEqual(['servers:read', 'tools:execute']);
  expect(scopesOf([complete], new Set(['prompts'] as const))).toEqual(['servers:read', 'tools:execute']);
  expect(scopesOf([complete], new Set(['tools'] as const))).toEqual([]);
  expect(scopesOf([read, prompt], AGENT)).toEqual([]);
  expect(scopesOf([{ method: 'tools/list' }], ALL)).toEqual([]);
});
