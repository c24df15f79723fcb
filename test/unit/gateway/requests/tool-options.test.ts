import { describe, expect, it } from 'vitest';
import { toolOptions } from '../../../../src/gateway/requests/tool-options.ts';
import { MessageSyncRequest } from '../../../../src/wire/requests.ts';

const tools = (names: readonly string[]) => names.map((name) => ({ name }));

describe('the tools of a request', () => {
  it('must have different names', () => {
    expect(() => toolOptions({ tools: tools(['a', 'b', 'a']) })).toThrow('different names');
  });

  it('are at most 1,000', () => {
    const names = Array.from({ length: 1_001 }, (_, index) => `t${index}`);
    expect(toolOptions({ tools: tools(names.slice(1)) }).clientTools).toHaveLength(1_000);
    expect(() => toolOptions({ tools: tools(names) })).toThrow('too many tools');
    const given = names.map((name) => ({ name }));
    expect(MessageSyncRequest.safeParse({ message: 'hello', clientTools: given.slice(1) }).success).toBe(
      true,
    );
    expect(MessageSyncRequest.safeParse({ message: 'hello', clientTools: given }).success).toBe(false);
  });
});
