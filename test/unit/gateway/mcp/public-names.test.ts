import { expect, test } from 'vitest';
import { publicNames } from '../../../../src/gateway/mcp/forwarded/public-names.ts';
import { namedServer, publicUri, sharedUris } from '../../../../src/gateway/mcp/forwarded/public-uris.ts';

test('a unique name stays, and others get their server in front', () => {
  const names = publicNames([
    { serverId: 'files', name: 'read' },
    { serverId: 'web', name: 'read' },
    { serverId: 'web', name: 'get.page' },
  ]);
  expect([...names.keys()].sort()).toEqual(['files__read', 'get.page', 'web__read']);
  expect(names.get('web__read')).toEqual({ serverId: 'web', name: 'read' });
});

test('no server gets a name of the agent', () => {
  const names = publicNames(
    [{ serverId: 'other agent', name: 'chat_with_agent' }],
    new Set(['chat_with_agent']),
  );
  expect([...names.keys()]).toEqual(['other_agent__chat_with_agent']);
});

test('each tool has a name of its own, whatever servers are called', () => {
  const tools = [
    { serverId: 'a b', name: 'x' },
    { serverId: 'a_b', name: 'x' },
    { serverId: 'c', name: 'a_b__x' },
  ];
  const names = publicNames(tools);
  expect(names.size).toBe(3);
  expect(names.get('a_b__x')).toEqual({ serverId: 'c', name: 'a_b__x' });
});

test('an address that two servers list has the server in it, and leads back to it', () => {
  const resources = [
    { serverId: 'one', uri: 'file:///a/b?c' },
    { serverId: 'two', uri: 'file:///a/b?c' },
    { serverId: 'two', uri: 'file:///d' },
  ];
  const shared = sharedUris(resources);
  const addresses = resources.map((resource) => publicUri(resource, shared.has(resource.uri)));
  expect(new Set(addresses).size).toBe(3);
  expect(addresses[2]).toBe('file:///d');
  expect(addresses.slice(0, 2).map(namedServer)).toEqual(resources.slice(0, 2));
  expect(namedServer('file:///d')).toBeNull();
  expect(namedServer('mcp-server://%/x')).toBeNull();
});
