import { ServiceError } from '../../core/errors.ts';

/** More would overflow the stack of what walks through a value: writing it, hashing it, compiling a schema. */
const MOST_LEVELS = 200;
/** A longer text that is too deep is not read, to say whether it is JSON: megabytes of brackets would take seconds. */
const MOST_CHARACTERS_READ = 128 * 1024;
const QUOTE = '"'.charCodeAt(0);
const BACKSLASH = '\\'.charCodeAt(0);
const OPENING: ReadonlySet<number> = new Set([...'[{'].map((sign) => sign.charCodeAt(0)));
const CLOSING: ReadonlySet<number> = new Set([...']}'].map((sign) => sign.charCodeAt(0)));

/** The value of a JSON text that a client has sent. Throws a `SyntaxError`, or `INVALID_REQUEST` if it is too deep. */
export function parseJson(text: string, field = 'body'): unknown {
  const isDeep = isTooDeep(text);
  if (isDeep && text.length > MOST_CHARACTERS_READ) throw tooDeep(field);
  const value: unknown = JSON.parse(text);
  if (isDeep) throw tooDeep(field);
  return value;
}

/** @param json a text that may be no JSON. */
function isTooDeep(json: string): boolean {
  // Each level takes two characters.
  if (json.length <= 2 * MOST_LEVELS) return false;
  let level = 0;
  for (let at = 0; at < json.length; at += 1) {
    const sign = json.charCodeAt(at);
    if (sign === QUOTE) at = endOfString(json, at);
    else if (CLOSING.has(sign)) level -= 1;
    else if (OPENING.has(sign)) {
      level += 1;
      if (level > MOST_LEVELS) return true;
    }
  }
  return false;
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
    issue: `it has more than ${MOST_LEVELS} levels`,
    suggestion: `Send at most ${MOST_LEVELS} levels of objects and lists.`,
  });
}
