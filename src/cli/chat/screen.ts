import type { Writable } from 'node:stream';
import { styleText } from 'node:util';
import type { StreamEvent } from '../../client/session-client.ts';
import { eventNote, type Note } from './event-note.ts';
import { WordWrap, wrapWords } from './word-wrap.ts';

export interface ScreenDeps {
  /** Gets the replies of the agent and nothing else. */
  readonly replies: Writable;
  /** Gets everything else. On a terminal this is the same stream as `replies`. */
  readonly notes: Writable;
  readonly isTerminal: boolean;
  readonly hasColours: boolean;
  /** The width of the terminal, at which lines are broken between words; undefined to break none. */
  readonly columns?: () => number | undefined;
}

/** Shows a conversation: streams replies and reasoning, and prints a line for other events. */
export class Screen {
  readonly #deps: ScreenDeps;
  /** Whether the last reply, or reasoning, has not ended its line. */
  #isMidReply = false;
  #isMidThought = false;
  /** Whether the last output was reasoning. */
  #isThinking = false;

  readonly #columns: () => number | undefined;
  readonly #wrap: WordWrap;

  constructor(deps: ScreenDeps) {
    this.#deps = deps;
    this.#columns = deps.columns ?? (() => undefined);
    this.#wrap = new WordWrap(this.#columns);
  }

  show(event: StreamEvent): void {
    if (event.event === 'response' || event.event === 'error') this.#endLines();
    const note = eventNote(event);
    if (note) this.note(note);
    else if (event.event === 'chunk') this.#say(event.data.content);
    else if (event.event === 'thinking') this.#think(event.data.reasoning ?? '');
  }

  /** Prints a line of its own. */
  note({ text, style }: Note): void {
    if (this.#deps.isTerminal) this.#endLines();
    else this.#endThought();
    this.#deps.notes.write(`${this.styled(wrapWords(printable(text), this.#columns()), style)}\n`);
  }

  styled(text: string, style: Note['style']): string {
    return this.#deps.hasColours ? styleText(style, text, { validateStream: false }) : text;
  }

  #say(text: string): void {
    if (text === '') return;
    this.#endThought();
    // Control characters of a reply must not move the cursor of a terminal or rename its window.
    this.#deps.replies.write(this.#deps.isTerminal ? this.#wrap.push(printable(text)) : text);
    this.#isMidReply = !text.endsWith('\n');
  }

  /** Reasoning goes to the notes, because it is not part of the reply. */
  #think(text: string): void {
    if (text === '') return;
    if (this.#deps.isTerminal) this.#endReply();
    const begin = this.#isThinking ? '' : 'thinking: ';
    this.#deps.notes.write(this.styled(begin + printable(text), 'dim'));
    this.#isThinking = true;
    this.#isMidThought = !text.endsWith('\n');
  }

  #endLines(): void {
    this.#endThought();
    this.#endReply();
  }

  #endThought(): void {
    if (this.#isMidThought) this.#deps.notes.write('\n');
    this.#isMidThought = false;
    this.#isThinking = false;
  }

  #endReply(): void {
    this.#deps.replies.write(this.#wrap.end());
    if (this.#isMidReply) this.#deps.replies.write('\n');
    this.#isMidReply = false;
  }
}

/** Removes control characters except newlines and tabs. */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}--[\n\t]]/gv, '');
}
