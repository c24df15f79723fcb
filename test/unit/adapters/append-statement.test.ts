import { describe, expect, it } from 'vitest';
import { appendStatement, type LinkedAppend } from '../../../src/adapters/postgres/append-statement.ts';

const writing = { schema: 's', node: 1, time: 0 };

function appendOf(...data: string[]): LinkedAppend {
  const links = data.map((json, index) => ({ seq: index + 1, time: 0, type: 't', data: json, hash: 'h' }));
  const head = { seq: links.length, hash: 'h' };
  return {
    stream: 'a',
    after: { seq: 0, hash: '' },
    head,
    links,
    open: undefined,
    title: undefined,
    epoch: undefined,
  };
}

/** The same after the first event of its stream. */
function following(append: LinkedAppend): LinkedAppend {
  return { ...append, after: { seq: 1, hash: 'h' } };
}

describe('an append to PostgreSQL', () => {
  it('may take longer when it brings megabytes, by one event or by several appends', () => {
    const half = 'x'.repeat(600_000);
    expect(appendStatement(writing, [appendOf('{}', half)]).mayBeLong).toBe(false);
    expect(appendStatement(writing, [appendOf(half + half)]).mayBeLong).toBe(true);
    expect(appendStatement(writing, [appendOf(half), appendOf(half)]).mayBeLong).toBe(true);
    expect(appendStatement(writing, [following(appendOf('{}', half))]).mayBeLong).toBe(false);
    expect(appendStatement(writing, [following(appendOf(half, half))]).mayBeLong).toBe(true);
  });

  it('is a shorter statement when it is alone and its stream is there', () => {
    const first = appendOf('{}');
    expect(appendStatement(writing, [following(first)]).name).toBe('continue');
    expect(appendStatement(writing, [first]).name).toBe('append');
    expect(appendStatement(writing, [following(first), first]).name).toBe('append');
    const many = Array.from({ length: 100 }, () => following(first));
    expect(appendStatement(writing, many).name).toBe('append');
  });
});
