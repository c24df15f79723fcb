import type { Writable } from 'node:stream';
import { styleText } from 'node:util';
import type { StreamEvent } from '../../client/session-client.ts';
import { eventNote, type Note } from './event-note.ts';

export interface ScreenParts {
  /** For what the agent says, and nothing else. */
  readonly replies: Writable;
  /** For everything around it. The same as `replies` on a terminal. */
  readonly notes: Writable;
  readonly isTerminal: boolean;
  readonly hasColours: boolean;
}

/** Shows a conversation: replies and thoughts as they are streamed, and a line for each thing besides. */
export class Screen {
  readonly #parts: ScreenParts;
  /** What was said last, or thought last, has not ended its line. */
  #isMidReply = false;
  #isMidThought = false;
  /** Nothing has come since the last piece of a thought. */
  #isThinking = false;

  constructor(parts: ScreenParts) {
    this.#parts = parts;
  }

  show(event: StreamEvent): void {
    if (event.event === 'response' || event.event === 'error') this.#endLines();
    const note = eventNote(event);
    if (note) this.note(note);
    else if (event.event === 'chunk') this.#say(event.data.content);
    else if (event.event === 'thinking') this.#think(event.data.reasoning ?? '');
  }

  /** A line of its own. */
  note({ text, style }: Note): void {
    if (this.#parts.isTerminal) this.#endLines();
    else this.#endThought();
    this.#parts.notes.write(`${this.styled(printable(text), style)}\n`);
  }

  styled(text: string, style: Note['style']): string {
    return this.#parts.hasColours ? styleText(style, text, { validateStream: false }) : text;
  }

  #say(text: string): void {
    if (text === '') return;
    this.#endThought();
    // What a model says must not move the cursor of a terminal, or name its window.
    this.#parts.replies.write(this.#parts.isTerminal ? printable(text) : text);
    this.#isMidReply = !text.endsWith('\n');
  }

  /** Among the notes, because it is no part of what the agent says. */
  #think(text: string): void {
    if (text === '') return;
    if (this.#parts.isTerminal) this.#endReply();
    const begin = this.#isThinking ? '' : 'thinking: ';
    this.#parts.notes.write(this.styled(begin + printable(text), 'dim'));
    this.#isThinking = true;
    this.#isMidThought = !text.endsWith('\n');
  }

  #endLines(): void {
    this.#endThought();
    this.#endReply();
  }

  #endThought(): void {
    if (this.#isMidThought) this.#parts.notes.write('\n');
    this.#isMidThought = false;
    this.#isThinking = false;
  }

  #endReply(): void {
    if (this.#isMidReply) this.#parts.replies.write('\n');
    this.#isMidReply = false;
  }
}

/** Without control characters, except for the ends of lines and tabs. */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}--[\n\t]]/gv, '');
}
