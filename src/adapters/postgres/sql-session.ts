import type { QueryConfig } from 'pg';

/** SQL with the values of its parameters. A name makes it a prepared statement of the connection. */
export type Statement = QueryConfig & { readonly values?: readonly unknown[] };

export type Row = Readonly<Record<string, unknown>>;

/** What runs statements: the pool, or the connection of a transaction. */
export interface Session {
  rows(statement: Statement): Promise<readonly Row[]>;
}
