import { TOKEN_SHAPES } from '../../core/access/shown-tokens.ts';

/** Replaces a secret. Needs no escaping in a URL's userinfo or query. */
export const REDACTED = '***REDACTED***';

const SECRET_WORDS = new Set(
  'token secret password passwd passphrase pwd key auth authorization signature sig credential credentials jwt bearer cookie'.split(
    ' ',
  ),
);
const SECRET_ENDING = /(?:token|secret|password|passwd|passphrase|apikey|accesskey|secretkey|privatekey)$/;
/** Names such as `--key-file` and `auth_type` are about a secret but do not hold it. */
const HARMLESS_LAST_WORDS = new Set('file path dir type url uri id name limit count algorithm'.split(' '));

/** Whether a flag, variable, header, query parameter or key of this name holds a secret. */
export function isSecretName(name: string): boolean {
  const words = name
    .split(/[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])/)
    .map((word) => word.toLowerCase().replace(/\d+$/, ''))
    .filter((word) => word !== '');
  if (HARMLESS_LAST_WORDS.has(words.at(-1) ?? '')) return false;
  return words.some((word) => SECRET_WORDS.has(word) || SECRET_ENDING.test(word));
}

/*
 * Texts may be long, and of a client. So what a pattern looks for from each character on is bounded: without that, a word of
 * 40,000 letters takes seconds, and one of a megabyte hours.
 */

/** Secrets of a known shape. Some patterns require a digit, because words of prose could match otherwise. */
const SECRET_SHAPES = [
  /\b(?:sk|xai)-(?=[\w-]{0,200}\d)[\w-]{8,}/g,
  /\b(?:gh[oprsu]|gsk|hf|github_pat)_(?=\w{0,200}\d)\w{8,}/g,
  /\b(?:glpat|xox[abeprs])-(?=[\w-]{0,200}\d)[\w-]{8,}/g,
  /\b(?:AKIA|ASIA)[A-Z0-9]{12,}/g,
  /\bAIza[\w-]{30,}/g,
  ...TOKEN_SHAPES,
  /(?<=\b(?:bearer|basic)\s{1,20})(?=[\w.~+/=-]{0,2000}\d)[\w.~+/=-]{8,}/gi,
];
const WHOLE_SECRET = /^\s*(?:sk-|gh[oprsu]_|github_pat_|glpat-|xox[abeprs]-|AKIA)\S+\s*$/;

/** Removes credentials in URLs and secrets of a known shape from any text. */
export function redactText(text: string): string {
  const withoutUrlSecrets = text.replaceAll(/[a-z][a-z0-9+.-]{0,40}:\/\/[^\s"'<>`]+/gi, redactUrl);
  return SECRET_SHAPES.reduce((rest, shape) => rest.replaceAll(shape, REDACTED), withoutUrlSecrets);
}

/** Removes the userinfo and the values of secret-looking query and fragment parameters from one URL. */
export function redactUrl(url: string): string {
  return (
    url
      .replace(/^(\s*[a-z][a-z0-9+.-]*:[\\/]{2,})[^\\/?#]*@/i, `$1${REDACTED}@`)
      // A password with an unescaped / ? or #: what follows the colon cannot be a port.
      .replace(/^(\s*[a-z][a-z0-9+.-]*:\/\/)(?=\S*@)[^[\\/?#@]*:(?!\d*(?:[\\/?#]|$))\S*@/i, `$1${REDACTED}@`)
      .replaceAll(/([?&#])([^=&#]*)=([^&#]*)/g, (pair, mark: string, name: string, value: string) =>
        value !== '' && (name === 'code' || isSecretName(name)) ? `${mark}${name}=${REDACTED}` : pair,
      )
  );
}

/** Removes secrets from a command's arguments, also if a flag and its secret are two arguments. */
export function redactArgs(args: readonly string[]): string[] {
  return args.map((arg, index) =>
    isSecretFlag(args[index - 1]) && isFlagValue(arg) ? REDACTED : redactArg(arg),
  );
}

function isSecretFlag(arg: string | undefined): boolean {
  return arg !== undefined && /^--?[A-Za-z][\w.-]*$/.test(arg) && arg.length > 2 && isSecretName(arg);
}

function isFlagValue(arg: string): boolean {
  return !arg.startsWith('--') && !/^-[A-Za-z]$/.test(arg);
}

/** Each secret in an argument is looked for in what stands around the others, so that a long one takes long. */
const MAX_ARG_CHARACTERS = 2_000;

/**
 * Removes secrets from one argument: `--token=x`, `TOKEN=x`, `X-Api-Key: x`, `{"token":"x"}`, `sh -c` lines. A long argument is
 * not shown at all.
 */
export function redactArg(arg: string): string {
  if (arg.length > MAX_ARG_CHARACTERS) return REDACTED;
  const redacted = redactArgOnce(arg);
  // The text around a marker may look like another secret. Repeat until nothing changes.
  return redacted === arg ? arg : redactArg(redacted);
}

function redactArgOnce(arg: string): string {
  if (WHOLE_SECRET.test(arg)) return REDACTED;
  const [, prefix, name, value] = /^((-{0,2}[\w.-]+)\s*[=:]\s*)(?!\/\/)(\S.*)$/s.exec(arg) ?? [];
  if (prefix !== undefined && name !== undefined && value !== undefined) {
    return `${prefix}${isSecretName(name) ? REDACTED : redactArgOnce(value)}`;
  }
  const withoutUrlSecrets = URL_START.test(arg) ? redactUrl(arg) : arg;
  const withoutBearer = redactText(withoutUrlSecrets).replaceAll(/(?<=\bbearer\s{1,20})[^\s"']+/gi, REDACTED);
  return redactFlags(redactPairs(withoutBearer));
}

const URL_START = /^\s*[a-z][a-z0-9+.-]*:\/\//i;
const PAIR = /(["']?)([A-Za-z][\w.-]{0,200})\1(\s*)([=:])(\s*)("(?:[^"\\]|\\.)*"|'[^']*'|[^\s"'][^"'\n]*)/g;

/** `name=value` and `name: value` anywhere. A header's value may contain spaces; an assignment's value ends at one. */
function redactPairs(text: string): string {
  return text.replaceAll(
    PAIR,
    (_pair, quote: string, name: string, before: string, mark: string, after: string, value: string) => {
      const head = `${quote}${name}${quote}${before}${mark}${after}`;
      if (!isSecretName(name)) return `${head}${redactPairs(value)}`;
      const valueQuote = /^["']/.exec(value)?.[0];
      if (valueQuote !== undefined) return `${head}${valueQuote}${REDACTED}${valueQuote}`;
      const rest = mark === '=' ? /[\s&].*$/s.exec(value)?.[0] : undefined;
      return `${head}${REDACTED}${redactPairs(rest ?? '')}`;
    },
  );
}

/** `--token x` inside one argument, as in `sh -c 'server --token x'`. */
function redactFlags(text: string): string {
  return text.replaceAll(
    /(?<=^|[\s"'])(--?[A-Za-z][\w.-]+)(\s+)("[^"]*"|'[^']*'|[^\s"'-][^\s"']*)/g,
    (pair, flag: string, space: string) => (isSecretName(flag) ? `${flag}${space}${REDACTED}` : pair),
  );
}
