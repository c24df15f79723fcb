import { percentDecodedIfValid } from '../../../core/percent-decoded.ts';
import { replacing } from '../../../core/replaced-texts.ts';
import type { McpServerConfig } from '../../../core/tool-server/mcp-server-config.ts';
import type { OAuthConfig } from '../../../core/tool-server/oauth-config.ts';

/** Replaces the secrets of a server's configuration in a text with `***`. */
export type Mask = (text: string) => string;

const SECRET_NAME = /key|token|secret|pass|pwd|auth|credential|cookie|session/i;

/** Shorter values occur in ordinary text; replacing them would reveal more than it hides. */
const MIN_SECRET_CHARACTERS = 3;
/** A value of this length counts as a secret, whatever its name. */
const MIN_SUSPECT_CHARACTERS = 8;

/**
 * Nothing in the configuration marks a value as secret. So every longer value of `env`, `headers` and the URL's query
 * counts as one, and every value whose name sounds like a secret.
 */
export function secretMask(config: McpServerConfig): Mask {
  const found = config.type === 'stdio' ? stdioSecrets(config) : httpSecrets(config);
  const replaced = replacing(found.filter((secret) => secret.length >= MIN_SECRET_CHARACTERS));
  return (text) => replaced(text, '***');
}

function stdioSecrets(config: Extract<McpServerConfig, { type: 'stdio' }>): string[] {
  return [...Object.entries(config.env ?? {}).flatMap(namedSecrets), ...argumentSecrets(config.args ?? [])];
}

function httpSecrets(config: Extract<McpServerConfig, { type: 'http' }>): string[] {
  const url = new URL(config.baseUrl);
  const inUrl = [url.username, url.password].flatMap((part) => [part, percentDecodedIfValid(part)]);
  return [
    ...inUrl,
    ...[...url.searchParams].flatMap(namedSecrets),
    ...Object.entries(config.headers ?? {}).flatMap(namedSecrets),
    ...(config.oauth ? oauthSecrets(config.oauth) : []),
  ];
}

function oauthSecrets({ clientSecret, privateKey, jwt, identityProvider }: OAuthConfig): string[] {
  const { clientSecret: providerSecret, idToken } = identityProvider ?? {};
  return [clientSecret, privateKey, jwt, providerSecret, idToken].filter((secret) => secret !== undefined);
}

function namedSecrets([name, value]: [string, string]): string[] {
  if (!SECRET_NAME.test(name) && value.length < MIN_SUSPECT_CHARACTERS) return [];
  // Servers repeat `Bearer abc` as `abc`, and a database URL as its password.
  const credential = value.split(' ').at(-1) ?? value;
  const password = URL.canParse(value) ? percentDecodedIfValid(new URL(value).password) : '';
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
