import pg from 'pg';

/** Runs the statements in the database of a log. @param text where `@` stands for the schema of the address. */
export async function sql(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text.replaceAll('@', schemaOf(url)))).rows;
  } finally {
    await client.end();
  }
}

/** Where the tables of a log are. */
export function schemaOf(url: string): string {
  return new URL(url).searchParams.get('schema') ?? '';
}
