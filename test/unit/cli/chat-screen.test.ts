import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { Screen } from '../../../src/cli/chat/screen.ts';
import { parseCommandLine } from '../../../src/cli/cli.ts';
import type { StreamEvent } from '../../../src/client/session-client.ts';

/** What is shown of these events: at a terminal all in one place, else replies apart from all else. */
function show(parts: { isTerminal: boolean; hasColours?: boolean }, ...events: StreamEvent[]) {
  const replies = new PassThrough({ encoding: 'utf8' });
  const notes = parts.isTerminal ? replies : new PassThrough({ encoding: 'utf8' });
  const screen = new Screen({ hasColours: false, ...parts, replies, notes });
  for (const event of events) screen.show(event);
  return { replies: String(replies.read() ?? ''), notes: String(notes.read() ?? '') };
}

const begun: StreamEvent = { event: 'thinking', data: { message: 'The agent is working on a reply.' } };
const thought = (reasoning: string): StreamEvent => ({
  event: 'thinking',
  data: { ...begun.data, reasoning },
});
const chunk = (content: string): StreamEvent => ({ event: 'chunk', data: { content } });
const toolCall: StreamEvent = {
  event: 'toolCall',
  data: { callId: 'c', toolName: 'write', serverId: 's', arguments: {} },
};
const response: StreamEvent = { event: 'response', data: { content: '' } };
const cut: StreamEvent = { event: 'response', data: { content: '', finishReason: 'length' } };
const failed: StreamEvent = { event: 'error', data: { code: 'AGENT_ERROR', message: 'No.', details: {} } };
const CUT = 'the reply ended at the token limit; raise llm.maxTokens, or ask to continue\n';

describe('what the model thinks aloud', () => {
  it('stands before the reply at a terminal, on lines of its own', () => {
    const { replies } = show(
      { isTerminal: true },
      ...[begun, thought('They gr'), thought('eet.\x1b[2J\nSo do I.'), chunk('Hello')],
      ...[thought('What else?\n'), toolCall, thought('Done.'), chunk('!'), response],
    );
    expect(replies).toBe(
      'thinking: They greet.[2J\nSo do I.\nHello\nthinking: What else?\n→ write {}\nthinking: Done.\n!\n',
    );
  });

  it('is dimmed where there are colours, and what is said is not', () => {
    const { replies } = show(
      { isTerminal: true, hasColours: true },
      ...[thought('They greet.'), chunk('Hello'), response],
    );
    expect(replies).toBe('\x1b[2mthinking: They greet.\x1b[22m\nHello\n');
  });

  it('is not among the replies of a script', () => {
    const shown = show(
      { isTerminal: false },
      ...[thought('First.'), chunk('The '), thought('Second.'), chunk('answer'), response],
    );
    expect(shown).toEqual({
      replies: 'The answer\n',
      notes: 'thinking: First.\nthinking: Second.\n',
    });
  });

  it('has its line ended when the turn ends in it', () => {
    expect(show({ isTerminal: false }, thought('First.'), failed).notes).toBe(
      'thinking: First.\nNo. (AGENT_ERROR)\n',
    );
  });

  it('is shown when it is asked for', () => {
    expect(parseCommandLine(['chat'], {})).toMatchObject({ kind: 'chat', reasoning: false });
    expect(parseCommandLine(['chat', '--reasoning'], {})).toMatchObject({ kind: 'chat', reasoning: true });
  });
});

describe('a reply that the token limit cut', () => {
  it('has a line below it at a terminal', () => {
    expect(show({ isTerminal: true }, chunk('Once upon'), cut).replies).toBe(`Once upon\n${CUT}`);
  });

  it('has it among the notes of a script', () => {
    expect(show({ isTerminal: false }, chunk('Once upon'), cut)).toEqual({
      replies: 'Once upon\n',
      notes: CUT,
    });
  });

  it('is none that ended by itself', () => {
    expect(show({ isTerminal: false }, chunk('The end'), response).notes).toBe('');
  });
});
