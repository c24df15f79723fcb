import { describe, expect, it } from 'vitest';
import { CHAT_TOOL, ChatArguments } from '../../../../src/gateway/mcp/agent/chat-tool.ts';
import { RESET_TOOL } from '../../../../src/gateway/mcp/agent/reset-tool.ts';

/** The values of these keywords, anywhere in a schema. */
function valuesOf(schema: unknown, keywords: readonly string[]): unknown[] {
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([key, value]) =>
    keywords.includes(key) && typeof value !== 'object' ? [value] : valuesOf(value, keywords),
  );
}

describe.each([CHAT_TOOL, RESET_TOOL])('the schemas of the tool $name', (tool) => {
  it('can be made a grammar by llama.cpp', () => {
    for (const pattern of valuesOf(tool, ['pattern'])) {
      expect(pattern).not.toContain('(?');
      const bounds = [...String(pattern).matchAll(/\{(\d+)(?:,(\d*))?\}/g)].flatMap(([, ...both]) => both);
      expect(bounds.map(Number).filter((bound) => bound > 255)).toEqual([]);
    }
    const lengths = valuesOf(tool, ['minLength', 'maxLength', 'minItems', 'maxItems']);
    expect(lengths.filter((length) => Number(length) > 255)).toEqual([]);
  });

  it('offer a session as a text', () => {
    expect(tool.inputSchema.properties?.sessionId).toEqual({
      type: 'string',
      description: expect.stringContaining('Name of the conversation'),
    });
  });
});

describe('the arguments of chat_with_agent', () => {
  it('have a session id that can be one', () => {
    const parse = (sessionId: string) => ChatArguments.safeParse({ message: 'hello', sessionId });
    expect(parse('acme/key:ci/trip').data?.sessionId).toBe('acme/key:ci/trip');
    expect(parse('../trip').error?.issues).toMatchObject([
      { path: ['sessionId'], message: expect.stringContaining('must be 1 to 128 characters') },
    ]);
  });
});
