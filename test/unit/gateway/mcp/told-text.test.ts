import { describe, expect, it } from 'vitest';
import { ToldText } from '../../../../src/gateway/mcp/told-text.ts';

/** What a client is told of these chunks, and how much of the text that is. */
function told(
  text: ToldText,
  ...chunks: readonly (readonly [step: number, offset: number, content: string])[]
) {
  const said = chunks.map(([step, offset, content]) => text.add({ step, offset, content }));
  return [said.join(''), text.told];
}

describe('the text that a client was told', () => {
  it('is that of all steps', () => {
    expect(told(new ToldText(), [1, 0, 'Hello'], [2, 0, ' there'], [2, 6, '!'])).toEqual([
      'Hello there!',
      12,
    ]);
  });

  it('goes on where the client is when a step begins again', () => {
    const again = [1, 0, 'Hello the'] as const;
    expect(told(new ToldText(), [1, 0, 'Hello'], again, [1, 9, 're'])).toEqual(['Hello there', 11]);
    expect(told(new ToldText(5), again, [1, 9, 're'])).toEqual([' there', 11]);
  });

  it('counts from the first chunk for who comes in the middle of a step', () => {
    expect(told(new ToldText(), [3, 100, 'on'], [3, 102, ' and on'])).toEqual(['on and on', 9]);
  });
});
