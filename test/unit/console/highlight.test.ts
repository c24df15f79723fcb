import { describe, expect, it } from 'vitest';
import { highlighted } from '../../../src/console/chat/highlight.ts';

const line = 'const a = 1;\n';

describe('the colours of code', () => {
  it('come for a known language', () => {
    expect(highlighted(line, 'js')).toMatchObject([{ type: 'element' }, {}, {}, {}]);
    expect(highlighted(line, 'no language')).toBeNull();
  });

  it('do not come for a code so long that the page would stand still', () => {
    expect(highlighted(line.repeat(3_000), 'js')).not.toBeNull();
    expect(highlighted(line.repeat(4_000), 'js')).toBeNull();
  });
});
