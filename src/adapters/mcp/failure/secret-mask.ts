import type { McpServerConfig } from '../../../core/tool-server/mcp-server-config.ts';
import { percentDecoded } from './percent-decoded.ts';

/** Replaces in a text what only the configuration should know. */
export type Mask = (text: string) => string;

const SECRET_NAME = /key|token|secret|pass|pwd|auth|credential|cookie|session/i;

/** Shorter values occur in ordinary text; replacing them would tell more than it hides. */
const MIN_SECRET_CHARACTERS = 3;
const MIN_SUSPECT_CHARACTERS = 8;

/**
 * Where a value came from is not known here, so every longer value of `env` and `headers` counts as a
 * secret, and every value whose name sounds like one.
 */
export function secretMask(config: McpServerConfig): Mask {
  const found = config.type === 'stdio' ? stdioSecrets(config) : httpSecrets(config);
  const secrets = [...new Set(found)]
    .filter((secret) => secret.length >= MIN_SECRET_CHARACTERS)
    // The longest first: a secret may be part of another.
    .sort((a, b) => b.length - a.length);
  return (text) => secrets.reduce((masked, secret) => masked.replaceAll(secret, '***'), text);
}

function stdioSecrets(config: Extract<McpServerConfig, { type: 'stdio' }>): string[] {
  return [...Object.entries(config.env ?? {}).flatMap(namedSecrets), ...argumentSecrets(config.args ?? [])];
}

function httpSecrets(config: Extract<McpServerConfig, { type: 'http' }>): string[] {
  const url = new URL(config.baseUrl);
  const inUrl = [url.username, url.password].flatMap((part) => [part, percentDecoded(part)]);
  return [
    ...inUrl,
    ...[...url.searchParams].flatMap(namedSecrets),
    ...Object.entries(config.headers ?? {}).flatMap(namedSecrets),
  ];
}

function namedSecrets([name, value]: [string, string]): string[] {
  if (!SECRET_NAME.test(name) && value.length < MIN_SUSPECT_CHARACTERS) return [];
  // `Bearer abc` is repeated by servers as `abc`; a database URL as its password.
  const credential = value.split(' ').at(-1) ?? value;
  const password = URL.canParse(value) ? percentDecoded(new URL(value).password) : '';
  return [value, credential, password];
}

/** The values of `--api-key abc` and `--api-key=abc`. */
function argumentSecrets(args: readonly string[]): string[] {
  return args.flatMap((arg, index) => {
    if (!arg.startsWith('-') || !SECRET_NAME.test(arg)) return [];
    const equals = arg.indexOf('=');
    return equals === -1 ? (args[index + 1] ?? []) : arg.slice(equals + 1);
  });
}
