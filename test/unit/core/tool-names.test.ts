import { describe, expect, it } from 'vitest';
import { nameToolsForModel } from '../../../src/core/tool-call/tool-names.ts';

const tool = (serverId: string, toolName: string) => ({ serverId, toolName });
const accepted = /^[a-zA-Z0-9_-]{1,64}$/;

describe('tool names for the model', () => {
  it('are the tools’ own where they are unique', () => {
    expect([...nameToolsForModel([tool('a', 'echo'), tool('b', 'add')]).keys()]).toEqual(['echo', 'add']);
  });

  it('carry the server where two servers offer the same name', () => {
    const names = nameToolsForModel([tool('a', 'echo'), tool('b', 'echo')]);
    expect(names.get('a__echo')).toEqual(tool('a', 'echo'));
    expect(names.get('b__echo')).toEqual(tool('b', 'echo'));
  });

  it('use only what providers accept, and stay different', () => {
    const long = 'x'.repeat(80);
    const tools = [
      tool('a', 'read/file'),
      tool('a', 'read file'),
      tool('a', `${long}1`),
      tool('a', `${long}2`),
      tool('é', ''),
      tool('a', '💥'),
    ];
    const names = nameToolsForModel(tools);
    expect(names.size).toBe(tools.length);
    for (const name of names.keys()) expect(name).toMatch(accepted);
    expect(new Set(names.values())).toEqual(new Set(tools));
  });

  it('never take the name of another tool, hash included', () => {
    const meeting = [tool('a', 'echo'), tool('b', 'echo'), tool('c', 'a__echo')];
    const [hashed = ''] = [...nameToolsForModel(meeting)].find(([, { serverId }]) => serverId === 'a') ?? [];
    const tools = [...meeting, tool('d', hashed)];
    for (const order of [tools, tools.toReversed()]) {
      const names = nameToolsForModel(order);
      expect(names.size).toBe(4);
      expect(names.get('a__echo')).toEqual(tool('c', 'a__echo'));
      expect(names.get(hashed)).toEqual(tool('d', hashed));
    }
  });

  it.each([
    [[tool('a', 'echo'), tool('b', 'echo'), tool('b', 'add'), tool('c', 'x y')]],
    [[tool('a', 'echo'), tool('b', 'echo'), tool('c', 'a__echo')]],
    [[tool('a', 'b__c'), tool('a__b', 'c'), tool('x', 'c'), tool('x', 'b__c')]],
  ])('do not depend on the order of the tools (%#)', (tools) => {
    const forward = nameToolsForModel(tools);
    const backward = nameToolsForModel(tools.toReversed());
    expect(Object.fromEntries(backward)).toEqual(Object.fromEntries(forward));
  });
});
