import { describe, expect, it } from 'vitest';
import { derivedTitle, shownTitle } from '../../../src/core/session/session-title.ts';
import { SessionLog } from '../../support/log/session-log.ts';

const titleOf = ({ state }: SessionLog): string | null => shownTitle(state.title);
const say = (text: string) => ({ type: 'turn.start', turnId: text, text }) as const;
const rename = (title: string | null) => ({ type: 'session.rename', title }) as const;

describe('a derived title', () => {
  it.each([
    ['hello', 'hello'],
    ['  two\t words  ', 'two words'],
    ['\n\n  the first line\nand the second', 'the first line'],
    ['a\u0000b', 'a b'],
    [' \n\t ', null],
    ['x'.repeat(60), 'x'.repeat(60)],
    ['x'.repeat(61), `${'x'.repeat(60)}…`],
    [`${'word '.repeat(11)}${'y'.repeat(20)}`, `${'word '.repeat(11).trim()}…`],
    [`${'x'.repeat(59)}👋 hello`, `${'x'.repeat(59)}…`],
  ])('of %j is %j', (text, title) => {
    expect(derivedTitle(text)).toBe(title);
  });
});

describe('the title of a session', () => {
  it('comes from the first message, and stays', () => {
    const log = new SessionLog();
    expect(titleOf(log)).toBeNull();
    log.tellAll(say('one'), say('two'), { type: 'session.reset', partial: '' }, say('three'));
    expect(titleOf(log)).toBe('one');
  });

  it('is the one that a client gave, until it is taken back', () => {
    const log = new SessionLog();
    expect(log.tell(rename('Sums'))).toEqual([{ type: 'session.renamed', title: 'Sums' }]);
    log.tell(say('one'));
    expect(titleOf(log)).toBe('Sums');
    expect(log.tell(rename('Sums'))).toEqual([]);
    expect(log.tell(rename(null))).toEqual([{ type: 'session.renamed', title: null }]);
    expect(titleOf(log)).toBe('one');
  });

  it('is that of the next message if the first says nothing', () => {
    const log = new SessionLog();
    log.tellAll(say(' '), say('two'));
    expect(titleOf(log)).toBe('two');
  });
});
