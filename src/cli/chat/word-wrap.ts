/** Characters that have no width, and characters that take two columns. */
const NO_WIDTH = /^[\p{Mn}\p{Me}\p{Cf}]$/u;
const WIDE =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\u3000-\u303f\uff01-\uff60]$/u;

/**
 * Breaks streamed text at words. The last word is held back until it is whole. Lines of fenced code stay as they are,
 * because a break would be copied along.
 */
export class WordWrap {
  /** The width of the terminal; undefined when the text goes to no terminal, and is not broken. */
  readonly #columns: () => number | undefined;
  #word = '';
  #column = 0;
  #line = '';
  #isCode = false;

  constructor(columns: () => number | undefined) {
    this.#columns = columns;
  }

  /** @returns what can be shown now. */
  push(text: string): string {
    const columns = this.#columns();
    if (columns === undefined) return text;
    let shown = '';
    for (const character of text) {
      if (character === '\n') {
        shown += `${this.#takeWord(columns)}\n`;
        this.#endLine();
        continue;
      }
      this.#line += character;
      if (character === ' ' || character === '\t')
        shown += this.#takeWord(columns) + this.#space(columns, character);
      else {
        this.#word += character;
        if (WIDE.test(character)) shown += this.#takeWord(columns);
      }
    }
    return shown;
  }

  /** @returns the word that was held back. The next text begins on a new line. */
  end(): string {
    const rest = this.#takeWord(this.#columns() ?? 0);
    this.#endLine();
    this.#isCode = false;
    return rest;
  }

  #endLine(): void {
    if (/^\s*```/.test(this.#line)) this.#isCode = !this.#isCode;
    this.#line = '';
    this.#column = 0;
  }

  #takeWord(columns: number): string {
    const word = this.#word;
    this.#word = '';
    const width = widthOf(word);
    const breaks = !this.#isCode && this.#column > 0 && this.#column + width > columns;
    this.#column = (breaks ? 0 : this.#column) + width;
    return breaks ? `\n${word}` : word;
  }

  /** A space at the end of a line becomes the break. */
  #space(columns: number, space: string): string {
    const breaks = !this.#isCode && this.#column >= columns;
    this.#column = breaks ? 0 : this.#column + 1;
    return breaks ? '\n' : space;
  }
}

/** Breaks a whole text at words. */
export function wrapWords(text: string, columns: number | undefined): string {
  const wrap = new WordWrap(() => columns);
  return wrap.push(text) + wrap.end();
}

function widthOf(word: string): number {
  let width = 0;
  for (const character of word) width += NO_WIDTH.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
  return width;
}
