import { describe, expect, it } from 'vitest';
import { actorText, causeText } from '../../../src/console/ui/event-origin.ts';
import { fileSize, quantity } from '../../../src/console/ui/quantity.ts';
import { span } from '../../../src/console/ui/time.ts';
import { totalUsage, usageText } from '../../../src/console/ui/token-usage.ts';

describe('the tokens of a model call', () => {
  it('are told with the parts that are known and not zero', () => {
    const usage = { inputTokens: 1_204, outputTokens: 350 };
    expect(usageText(usage)).toBe('1,204 tokens in, 350 out');
    expect(usageText({ ...usage, cachedTokens: 1_024, reasoningTokens: 0 })).toBe(
      '1,204 tokens in (1,024 cached), 350 out',
    );
    expect(usageText({ ...usage, reasoningTokens: 210 })).toBe('1,204 tokens in, 350 out (210 reasoning)');
  });

  it('add up to those of the turn, each kind for itself', () => {
    const usages = [
      { inputTokens: 100, outputTokens: 10, cachedTokens: 80 },
      { inputTokens: 200, outputTokens: 20, cachedTokens: 90, reasoningTokens: 15 },
    ];
    expect(totalUsage(usages)).toEqual({
      inputTokens: 300,
      outputTokens: 30,
      cachedTokens: 170,
      reasoningTokens: 15,
    });
    expect(totalUsage([])).toBeNull();
  });
});

describe('the origin of an event', () => {
  it('is told in plain words', () => {
    expect(actorText({ kind: 'client' })).toBe('by a client');
    expect(actorText({ kind: 'client', principal: 'ann' })).toBe('by ann');
    expect(actorText({ kind: 'agent' })).toBe('by the agent');
    expect(actorText({ kind: 'service' })).toBe('by the service');
    expect(causeText({ kind: 'turn-cancelled' })).toBe('the turn was cancelled');
    expect(causeText({ kind: 'service-stopped' })).toBe('the service stopped');
    expect(causeText({ kind: 'something newer' })).toBe('something newer');
  });
});

describe('a quantity', () => {
  it('has the noun in its number', () => {
    expect([0, 1, 2, 1_204].map((value) => quantity(value, 'tool'))).toEqual([
      '0 tools',
      '1 tool',
      '2 tools',
      '1,204 tools',
    ]);
    expect(quantity(2, 'reply', 'replies')).toBe('2 replies');
    expect([1, 40_960, 3_400_000, 2.5e9].map(fileSize)).toEqual(['1 byte', '41.0 kB', '3.4 MB', '2.5 GB']);
  });
});

describe('a duration', () => {
  it.each([
    [0, '0 ms'],
    [340.4, '340 ms'],
    [999.7, '1.0 s'],
    [2_449, '2.4 s'],
    [59_940, '59.9 s'],
    [59_960, '1 min 0 s'],
    [119_600, '2 min 0 s'],
    [185_000, '3 min 5 s'],
    [3_599_700, '1 h 0 min'],
    [7_620_000, '2 h 7 min'],
  ])('of %d ms is rounded to the unit that is shown', (ms, text) => {
    expect(span(ms)).toBe(text);
  });
});
