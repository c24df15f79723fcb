import { ServiceError } from '../../core/errors.ts';

/** More would overflow the stack of what walks through a value: writing it, hashing it, compiling a schema. */
const MAX_LEVELS = 200;
/** A longer text that is too deep is not read, to say whether it is JSON: megabytes of brackets would take seconds. */
const MAX_CHARACTERS_READ = 128 * 1024;
/** To parse more takes long, and holds up everybody: ten megabytes of empty lists take most of a second. */
const MAX_VALUES = 1_000_000;
/**
 * Names of fields cost more than values, and most where each object has others: V8 makes a shape of each, and 10 MB took five
 * seconds. The names of a list of equal objects are few.
 */
const MAX_NAMES = 250_000;
const MAX_DIFFERENT_NAMES = 20_000;
const QUOTE = '"'.charCodeAt(0);
const BACKSLASH = '\\'.charCodeAt(0);
const COMMA = ','.charCodeAt(0);
const COLON = ':'.charCodeAt(0);
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [...'[]{}'].map((sign) => sign.charCodeAt(0));
const WHITE_SPACE: ReadonlySet<number> = new Set([...' \t\n\r'].map((sign) => sign.charCodeAt(0)));

/** The value of a JSON text that a client has sent. Throws a `SyntaxError`, or `INVALID_REQUEST` if it is too deep or has too much in it. */
export function parseJson(text: string, field = 'body'): unknown {
  const excess = excessOf(text);
  if (excess && excess !== 'levels') throw tooMany(excess, field);
  if (excess && text.length > MAX_CHARACTERS_READ) throw tooDeep(field);
  const value: unknown = JSON.parse(text);
  if (excess) throw tooDeep(field);
  return value;
}

/**
 * The same without the refusal, for a look at what stands at the top of a text that is refused: its id. Undefined if the text
 * is too long for that. What is deeper than 200 levels must not be walked through.
 */
export function parseRefused(text: string): unknown {
  if (text.length > MAX_CHARACTERS_READ && excessOf(text)) return undefined;
  return JSON.parse(text);
}

type Excess = 'levels' | keyof typeof MOST;

const MOST = { values: MAX_VALUES, names: MAX_NAMES, 'different names': MAX_DIFFERENT_NAMES };

/** @param json a text that may be no JSON. */
function excessOf(json: string): Excess | null {
  // Each level takes two characters.
  if (json.length <= 2 * MAX_LEVELS) return null;
  let level = 0;
  let values = 0;
  let names = 0;
  for (let at = 0; at < json.length; at += 1) {
    const sign = json.charCodeAt(at);
    if (sign === QUOTE) at = endOfString(json, at);
    else if (sign === COMMA) values += 1;
    else if (sign === COLON) names += 1;
    else if (sign === CLOSE_LIST || sign === CLOSE_OBJECT) level -= 1;
    else if (sign === OPEN_LIST || sign === OPEN_OBJECT) {
      level += 1;
      values += 1;
      if (level > MAX_LEVELS) return 'levels';
    }
    if (values > MAX_VALUES) return 'values';
    if (names > MAX_NAMES) return 'names';
  }
  return names > MAX_DIFFERENT_NAMES && hasManyNames(json) ? 'different names' : null;
}

function hasManyNames(json: string): boolean {
  const known = new Set<string>();
  for (let at = json.indexOf('"'); at !== -1; at = json.indexOf('"', at + 1)) {
    const begin = at;
    at = endOfString(json, at);
    if (isColonNext(json, at)) known.add(json.slice(begin, at));
    if (known.size > MAX_DIFFERENT_NAMES) return true;
  }
  return false;
}

function isColonNext(json: string, end: number): boolean {
  let next = end + 1;
  while (WHITE_SPACE.has(json.charCodeAt(next))) next += 1;
  return json.charCodeAt(next) === COLON;
}

/** @param begin index of the first quote. @returns that of the last one, or of the end of a text without it. */
function endOfString(json: string, begin: number): number {
  for (let at = json.indexOf('"', begin + 1); at !== -1; at = json.indexOf('"', at + 1)) {
    let before = at - 1;
    while (json.charCodeAt(before) === BACKSLASH) before -= 1;
    if ((at - before) % 2 === 1) return at;
  }
  return json.length;
}

function tooDeep(field: string): ServiceError {
  return new ServiceError('INVALID_REQUEST', 'The JSON is nested too deeply.', {
    field,
    issue: `it has more than ${MAX_LEVELS} levels`,
    suggestion: `Send at most ${MAX_LEVELS} levels of objects and lists.`,
  });
}

function tooMany(excess: keyof typeof MOST, field: string): ServiceError {
  const what = excess === 'values' ? 'values' : `${excess} of fields`;
  return new ServiceError('INVALID_REQUEST', `The JSON has too many ${what}.`, {
    field,
    issue: `it has more than ${MOST[excess]}`,
    suggestion: 'Send less, or send it as a text.',
  });
}
