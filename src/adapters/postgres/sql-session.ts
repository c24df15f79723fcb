import type { QueryConfig } from 'pg';

/** SQL with the values of its parameters. A name makes it a prepared statement of the connection. */
export interface Statement extends Pick<QueryConfig, 'name' | 'text'> {
  readonly values?: readonly unknown[];
  /** Whether it may take longer than a database that is well takes for a few rows. */
  readonly mayBeLong?: boolean;
}

export type Row = Readonly<Record<string, unknown>>;

/** What runs statements: the pool, or the connection of a transaction. */
export interface Session {
  rows(statement: Statement): Promise<readonly Row[]>;
}
