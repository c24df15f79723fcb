import { percentDecoded } from '../../core/percent-decoded.ts';

/** Where NATS servers are, and as whom to connect. */
export interface BusAddress {
  readonly servers: readonly string[];
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly token: string | undefined;
  readonly isTls: boolean;
  /** For people: without user, password and token. */
  readonly shown: string;
}

const DEFAULT_PORT = 4222;

/**
 * Reads `nats://user:password@host:4222`, `nats://token@host` and `tls://…`; several of them, with commas in between, are
 * servers of one cluster. Throws an error that never has the password.
 */
export function parseBusUrl(text: string): BusAddress {
  const urls = text.split(',').map((part) => parseOne(part.trim()));
  const [first] = urls;
  if (!first) throw wrongUrl();
  const { username, password } = first;
  const user = percentDecoded(username) ?? '';
  return {
    servers: urls.map(serverOf),
    user: password === '' ? undefined : user,
    password: password === '' ? undefined : percentDecoded(password),
    token: password === '' && user !== '' ? user : undefined,
    isTls: urls.some(({ protocol }) => protocol === 'tls:'),
    shown: urls.map(({ protocol, host }) => `${protocol}//${host}`).join(','),
  };
}

function parseOne(text: string): URL {
  if (!/^(nats|tls):\/\//.test(text) || !URL.canParse(text)) throw wrongUrl();
  const url = new URL(text);
  const isDecodable = percentDecoded(`${url.username}:${url.password}`) !== undefined;
  if (url.hostname === '' || !isDecodable) throw wrongUrl();
  return url;
}

function serverOf({ hostname, port }: URL): string {
  return `${hostname}:${port === '' ? DEFAULT_PORT : port}`;
}

/** Names nothing of the address: it may hold a password. */
function wrongUrl(): Error {
  return new Error(
    'the bus must be the address of a NATS server, such as nats://user:password@127.0.0.1:4222 (or tls://…; several with commas in between)',
  );
}
