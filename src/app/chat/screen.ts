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

/** Shows a conversation: replies as they are streamed, and a line for each thing that happens meanwhile. */
export class Screen {
  readonly #parts: ScreenParts;
  /** What was said last has not ended its line. */
  #isMidLine = false;

  constructor(parts: ScreenParts) {
    this.#parts = parts;
  }

  show(event: StreamEvent): void {
    const note = eventNote(event);
    if (note) this.note(note);
    else if (event.event === 'chunk') this.#say(event.data.content);
    if (event.event === 'response' || event.event === 'error') this.#endLine();
  }

  /** A line of its own. */
  note({ text, style }: Note): void {
    if (this.#parts.isTerminal) this.#endLine();
    this.#parts.notes.write(`${this.styled(printable(text), style)}\n`);
  }

  styled(text: string, style: Note['style']): string {
    return this.#parts.hasColours ? styleText(style, text, { validateStream: false }) : text;
  }

  #say(text: string): void {
    // What a model says must not move the cursor of a terminal, or name its window.
    this.#parts.replies.write(this.#parts.isTerminal ? printable(text) : text);
    if (text !== '') this.#isMidLine = !text.endsWith('\n');
  }

  #endLine(): void {
    if (this.#isMidLine) this.#parts.replies.write('\n');
    this.#isMidLine = false;
  }
}

/** Without control characters, except for the ends of lines and tabs. */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}--[\n\t]]/gv, '');
}
