import { describe, expect, it } from 'vitest';
import { toolOptions } from '../../../../src/gateway/requests/tool-options.ts';

const tools = (names: readonly string[]) => names.map((name) => ({ name }));

describe('the tools of a request', () => {
  it('must have different names', () => {
    expect(() => toolOptions({ tools: tools(['a', 'b', 'a']) })).toThrow('different names');
  });

  it('are read in no time, however many there are', () => {
    const names = Array.from({ length: 200_000 }, (_, index) => `t${index}`);
    expect(toolOptions({ tools: tools(names) }).clientTools).toHaveLength(200_000);
  });
});
