import { describe, expect, it } from 'vitest';
import { EventParts } from '../../../src/gateway/sse/event-parts.ts';

describe('events that are sent together', () => {
  it('are sent in parts, each as soon as it is long enough, and the rest on request', () => {
    const sent: string[] = [];
    const parts = new EventParts((part) => sent.push(part));
    const events = Array.from({ length: 1000 }, (_, index) => `data: ${'x'.repeat(90)} ${index}\n\n`);
    for (const event of events) parts.add(event);
    expect(sent.length).toBeGreaterThan(4);
    expect(sent.every(({ length }) => length < 20_000)).toBe(true);
    expect(sent.join('') + parts.takeRest()).toBe(events.join(''));
    expect(parts.takeRest()).toBe('');
  });
});
