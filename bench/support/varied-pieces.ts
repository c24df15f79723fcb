import { readFileSync } from 'node:fs';

/*
 * Pieces of replies that vary as tokens do: 1 to 12 characters, about one in fifteen with characters that JSON
 * escapes.
 */

const SAMPLE = new URL('sample-reply.txt', import.meta.url);
const ESCAPED_SHARE = 1 / 15;
const FRAGMENT_SHARE = 1 / 4;
const LONGEST = 12;
/** Replies do not begin with a blank. */
const FIRST = 'The';
const SEED = 99;

/** The most frequent first. */
const WORDS = (
  'the of and to a in is that for it as with on be are this by or from at not an which can but have more was one ' +
  'their all its when so other than into these time only some each how if will also most first between because ' +
  'number system should different through process example people water usually change small value result order ' +
  'within another several energy surface reason pressure language together question increase reaction computer ' +
  'important available condition structure direction generally certainly boundary molecules different government ' +
  'information temperature application environment performance'
).split(' ');
/** Parts of words, and marks after them. */
const FRAGMENTS = ', . s - ing ed er ly tion : 1 ) al ies 0 ment ; able * ness 20 ically ization'.split(' ');
const MARKS = ['.\n', '"', ':\n'];
const ESCAPED = ['\n', '\n\n', ' "', '.\n\n', '"', '",', ':\n', '."', '\n  ', '":"', '\n- ', '\\', '\t'];

/** Pieces as most models send them: words with the blank before them, and fragments of words. */
export function tokens(count: number): string[] {
  const next = pseudoRandom();
  return pieces(count, () => {
    const roll = next();
    if (roll < ESCAPED_SHARE) return picked(ESCAPED, next);
    return roll < ESCAPED_SHARE + FRAGMENT_SHARE ? picked(FRAGMENTS, next) : ` ${picked(WORDS, next)}`;
  });
}

/** Pieces of whole words, some with characters after them that JSON escapes. */
export function wholeWords(count: number): string[] {
  const next = pseudoRandom();
  return pieces(count, () => {
    const word = ` ${picked(WORDS, next)}`;
    const mark = next() < ESCAPED_SHARE ? picked(MARKS, next) : '';
    return word.length + mark.length <= LONGEST ? word + mark : word;
  });
}

/** About as a model cuts it: words with the blank before them, runs of marks, and runs of blanks. */
const CODE_PIECE = /[ *`"<.]?[\p{L}\d]+|[^\p{L}\d\s]{1,4}|[ \n\t]+/gu;

/** Pieces of a reply in Markdown with source code, many with characters that JSON escapes. */
export function sourceCode(count: number): string[] {
  const code = readFileSync(SAMPLE, 'utf8').match(CODE_PIECE) ?? [];
  return Array.from({ length: count }, (_, index) => code[index % code.length] ?? '');
}

function pieces(count: number, piece: () => string): string[] {
  return Array.from({ length: count }, (_, index) => (index === 0 ? FIRST : piece()));
}

/** Picks earlier texts more often, as the words of a language are distributed. */
function picked(texts: readonly string[], next: () => number): string {
  return texts[Math.floor(next() ** 2 * texts.length)] ?? '';
}

/** A pseudo-random generator of numbers from 0 to 1 that is the same in each run. */
function pseudoRandom(): () => number {
  let state = SEED;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
