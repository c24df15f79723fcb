import { describe, expect, it } from 'vitest';
import { ReplyText } from '../../../../src/gateway/openai/chat/reply-text.ts';

const chunk = (step: number, offset: number, content: string) => ({ step, offset, content });

describe('the text of a turn for a client that cannot take anything back', () => {
  it('is told piece by piece, over several steps', () => {
    const text = new ReplyText();
    expect(text.add(chunk(1, 0, 'Let me'))).toBe('Let me');
    expect(text.add(chunk(1, 6, ' look.'))).toBe(' look.');
    expect(text.add(chunk(2, 0, 'Done'))).toBe('Done');
    expect(text.end('Let me look.Done')).toBe('');
  });

  it('is told whole at the end where no piece of it came', () => {
    expect(new ReplyText().end('hello')).toBe('hello');
    const text = new ReplyText();
    text.add(chunk(1, 0, 'hel'));
    expect(text.end('hello')).toBe('lo');
  });

  it('goes on where the client is when a step that begins in the same way is run again', () => {
    const text = new ReplyText();
    text.add(chunk(1, 0, 'One. '));
    text.add(chunk(2, 0, 'Two and a'));
    expect(text.add(chunk(2, 0, 'Two'))).toBe('');
    expect(text.add(chunk(2, 3, ' and a half'))).toBe(' half');
    expect(text.end('One. Two and a half')).toBe('');
  });

  it('is an error when the step says something else', () => {
    const text = new ReplyText();
    text.add(chunk(1, 0, 'Yes, '));
    expect(text.add(chunk(1, 0, 'No'))).toBe('');
    expect(text.add(chunk(1, 2, ', never'))).toBe('');
    expect(() => text.end('No, never')).toThrow('The reply was interrupted.');
  });

  it('is an error when the whole reply is shorter', () => {
    const text = new ReplyText();
    text.add(chunk(1, 0, 'Yes, '));
    text.add(chunk(1, 0, 'Yes'));
    expect(() => text.end('Yes')).toThrow('The reply was interrupted.');
  });
});
