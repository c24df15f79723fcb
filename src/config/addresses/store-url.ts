import { percentDecoded } from '../../core/percent-decoded.ts';

/** Where the tables are. */
export interface StoreAddress {
  /** For the driver: without what is meant for this service. */
  readonly connectionString: string;
  /** The PostgreSQL schema that has the tables. */
  readonly schema: string;
  /** For people: without user and password. */
  readonly shown: string;
}

const DEFAULT_SCHEMA = 'agent_service';
/** PostgreSQL cuts longer names. */
const SCHEMA = /^[a-z_][a-z0-9_]{0,62}$/;

/** What the driver takes in the address, besides the schema. It would ignore all others, also one that asks for TLS. */
const PARAMETERS: readonly string[] = [
  ...['sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'sslnegotiation', 'ssl', 'uselibpqcompat'],
  ...['host', 'port', 'user', 'password', 'application_name', 'fallback_application_name'],
  ...['options', 'client_encoding', 'lock_timeout', 'idle_in_transaction_session_timeout'],
];

/** Parses `postgres://user:password@host:5432/database?schema=agent_service`. Throws a `TypeError` that says what is wrong. */
export function parseStoreUrl(text: string): StoreAddress {
  const url = URL.parse(text);
  if (!url || !['postgres:', 'postgresql:'].includes(url.protocol))
    throw new TypeError(
      'the address of the database must be like postgres://user:password@host:5432/database',
    );
  const { username, password, pathname } = url;
  // The driver would say no more than "URI malformed". The text may be the password, so the error does not repeat it.
  if (percentDecoded(`${username}:${password}${pathname}`) === undefined)
    throw new TypeError(
      'the address of the database has a % that begins no code; write a percent sign as %25',
    );
  const schema = url.searchParams.get('schema') ?? DEFAULT_SCHEMA;
  if (!SCHEMA.test(schema))
    throw new TypeError(
      `the schema "${schema}" in the address of the database must be lower-case letters, digits and _, and begin with a letter`,
    );
  url.searchParams.delete('schema');
  const unknown = [...url.searchParams.keys()].find((name) => !PARAMETERS.includes(name));
  if (unknown !== undefined)
    throw new TypeError(
      `the address of the database has no parameter ${shownName(unknown)}, only schema, ${PARAMETERS.join(', ')}`,
    );
  const database = percentDecoded(pathname.slice(1)) || percentDecoded(username);
  return { connectionString: url.href, schema, shown: `${url.host}/${database}, schema ${schema}` };
}

/** A `?` in the password makes the rest of the address a parameter. */
function shownName(parameter: string): string {
  return /^\w+$/.test(parameter) ? `"${parameter}"` : 'of this name (write a ? in the password as %3F)';
}
