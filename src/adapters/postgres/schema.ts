import type { Session } from './sql-session.ts';

/**
 * The tables. Each step is run once, in this order; never change one that was released. Ids are compared byte by byte.
 * `open` is in no column that changes with each append, so that updates of `streams` stay within their page. The owner of a
 * stream is a node, which may be gone; each new owner has a higher epoch.
 */
const STEPS: readonly ((schema: string) => string)[] = [
  (schema) => `
    CREATE TABLE ${schema}.streams (
      stream text COLLATE "C" PRIMARY KEY,
      head integer NOT NULL,
      hash text NOT NULL,
      created bigint NOT NULL,
      updated bigint NOT NULL,
      open boolean NOT NULL,
      title text
    ) WITH (fillfactor = 80);
    CREATE INDEX open_streams ON ${schema}.streams (stream) WHERE open;
    CREATE TABLE ${schema}.events (
      stream text COLLATE "C" NOT NULL,
      seq integer NOT NULL,
      time bigint NOT NULL,
      type text NOT NULL,
      data text NOT NULL,
      hash text NOT NULL,
      PRIMARY KEY (stream, seq)
    );
    CREATE TABLE ${schema}.snapshots (
      stream text COLLATE "C" NOT NULL,
      part integer NOT NULL,
      seq integer NOT NULL,
      parts integer NOT NULL,
      text text NOT NULL,
      hash text NOT NULL,
      PRIMARY KEY (stream, part)
    );
    CREATE TABLE ${schema}.nodes (
      node bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      name text NOT NULL,
      version text NOT NULL,
      lease_end timestamptz NOT NULL
    );
  `,
  (schema) => `
    ALTER TABLE ${schema}.streams ADD COLUMN owner bigint, ADD COLUMN epoch integer NOT NULL DEFAULT 0;
    ALTER TABLE ${schema}.nodes
      ADD COLUMN shares boolean NOT NULL DEFAULT false,
      ADD COLUMN since timestamptz NOT NULL DEFAULT clock_timestamp(),
      ADD COLUMN report text;
    ALTER TABLE ${schema}.format ADD COLUMN cluster text NOT NULL DEFAULT md5(random()::text || clock_timestamp());
  `,
];

/** Any number: whoever migrates holds this lock, so that of several services that start at once one does. */
const LOCK = 5_290_175_123;

/** Throws unless the tables are there, as this release makes them. */
export async function requireTables(session: Session, schema: string): Promise<void> {
  const [found] = await session.rows({
    text: 'SELECT to_regclass($1) AS name',
    values: [`${schema}.format`],
  });
  if (found?.name === null) throw new Error(`there is no event log in schema ${schema} of the database`);
  const version = await versionOf(session, schema);
  if (version < STEPS.length)
    throw new Error(
      `the tables in schema ${schema} are of version ${version}, and this agent-service needs ${STEPS.length}: start it once with --store`,
    );
}

/** Throws if a later release has changed the tables. */
async function versionOf(session: Session, schema: string): Promise<number> {
  const [format] = await session.rows({ text: `SELECT version FROM ${schema}.format` });
  const version = Number(format?.version);
  if (version > STEPS.length)
    throw new Error(
      `the tables in schema ${schema} are of version ${version}, and this agent-service knows ${STEPS.length}: run the newer one`,
    );
  return version;
}

/** Makes the tables, or brings them up to date. Throws if a later release has changed them. Call it in a transaction. */
export async function migrate(session: Session, schema: string): Promise<void> {
  await session.rows({ text: `SELECT pg_advisory_xact_lock(${LOCK})`, mayBeLong: true });
  const [found] = await session.rows({
    text: 'SELECT to_regclass($1) AS name',
    values: [`${schema}.format`],
  });
  if (found?.name === null) {
    // A role that may not create schemas can be given an empty one.
    const [made] = await session.rows({ text: 'SELECT to_regnamespace($1) AS name', values: [schema] });
    if (made?.name === null) await session.rows({ text: `CREATE SCHEMA ${schema}` });
    await session.rows({
      text: `CREATE TABLE ${schema}.format (version integer NOT NULL, probed timestamptz)`,
    });
    await session.rows({ text: `INSERT INTO ${schema}.format VALUES (0)` });
  }
  const version = await versionOf(session, schema);
  for (const step of STEPS.slice(version)) await session.rows({ text: step(schema), mayBeLong: true });
  if (version < STEPS.length)
    await session.rows({ text: `UPDATE ${schema}.format SET version = $1`, values: [STEPS.length] });
}
