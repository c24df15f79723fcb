import { ServiceError } from '../../core/errors.ts';

/** More would overflow the stack of what walks through a value: writing it, hashing it, compiling a schema. */
const MAX_LEVELS = 200;
/** A longer text that is too deep is not read, to say whether it is JSON: megabytes of brackets would take seconds. */
const MAX_CHARACTERS_READ = 128 * 1024;
/** To parse more takes long, and holds up everybody: ten megabytes of empty lists take most of a second. */
const MAX_VALUES = 1_000_000;
const QUOTE = '"'.charCodeAt(0);
const BACKSLASH = '\\'.charCodeAt(0);
const COMMA = ','.charCodeAt(0);
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [...'[]{}'].map((sign) => sign.charCodeAt(0));

/** The value of a JSON text that a client has sent. Throws a `SyntaxError`, or `INVALID_REQUEST` if it is too deep or has too much in it. */
export function parseJson(text: string, field = 'body'): unknown {
  const excess = excessOf(text);
  if (excess === 'values') throw tooMany(field);
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

/** @param json a text that may be no JSON. */
function excessOf(json: string): 'levels' | 'values' | null {
  // Each level takes two characters.
  if (json.length <= 2 * MAX_LEVELS) return null;
  let level = 0;
  let values = 0;
  for (let at = 0; at < json.length; at += 1) {
    const sign = json.charCodeAt(at);
    if (sign === QUOTE) at = endOfString(json, at);
    else if (sign === COMMA) values += 1;
    else if (sign === CLOSE_LIST || sign === CLOSE_OBJECT) level -= 1;
    else if (sign === OPEN_LIST || sign === OPEN_OBJECT) {
      level += 1;
      values += 1;
      if (level > MAX_LEVELS) return 'levels';
    }
    if (values > MAX_VALUES) return 'values';
  }
  return null;
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

function tooMany(field: string): ServiceError {
  return new ServiceError('INVALID_REQUEST', 'The JSON has too many values.', {
    field,
    issue: `it has more than ${MAX_VALUES}`,
    suggestion: 'Send less, or send it as a text.',
  });
}
