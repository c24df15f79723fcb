import { Client } from 'pg';
import { z } from 'zod';

/** What is left at least of a lease of 2 s that is renewed every 500 ms. */
const RENEWED_MS = 1_200;
/** The driver gives a bigint as text. */
const NodeId = z.string().transform(Number);
const NodeRow = z.object({ node: NodeId });
const OwnerRow = z.object({ owner: NodeId.nullable() });
const HistoryRow = z.object({ stream: z.string(), epoch: z.int(), owner: NodeId });
const EventRow = z.object({ stream: z.string(), seqs: z.array(z.int()) });

/** Reads beside the nodes, in the tables of the database, who owned which session when. */
export class Ownership {
  readonly #url: string;
  readonly #schema: string;

  private constructor(url: URL) {
    this.#schema = url.searchParams.get('schema') ?? 'agent_service';
    this.#url = `postgres://${url.username}@${url.host}${url.pathname}`;
  }

  /** The tables must be there. Notes each change of owners from now on. */
  static async observe(storeUrl: string): Promise<Ownership> {
    const ownership = new Ownership(new URL(storeUrl));
    const schema = ownership.#schema;
    await ownership.#rows(`
      CREATE TABLE ${schema}.test_owners (stream text, epoch integer, owner bigint);
      CREATE FUNCTION ${schema}.note_owner() RETURNS trigger LANGUAGE plpgsql AS $note$
        BEGIN
          INSERT INTO ${schema}.test_owners VALUES (NEW.stream, NEW.epoch, NEW.owner);
          RETURN NULL;
        END
      $note$;
      CREATE TRIGGER note_first AFTER INSERT ON ${schema}.streams
        FOR EACH ROW WHEN (NEW.owner IS NOT NULL) EXECUTE FUNCTION ${schema}.note_owner();
      CREATE TRIGGER note_next AFTER UPDATE ON ${schema}.streams
        FOR EACH ROW WHEN (NEW.owner IS NOT NULL AND (NEW.owner, NEW.epoch) IS DISTINCT FROM (OLD.owner, OLD.epoch))
        EXECUTE FUNCTION ${schema}.note_owner();`);
    return ownership;
  }

  /** Null: nobody, or there is no such session. */
  async ownerOf(sessionId: string): Promise<number | null> {
    const rows = await this.#rows(`SELECT owner FROM ${this.#schema}.streams WHERE stream = $1`, [sessionId]);
    return rows.length === 0 ? null : OwnerRow.parse(rows[0]).owner;
  }

  /** The nodes that have renewed their leases a moment ago. One that has not may have lost its lease, and not know it yet. */
  async living(): Promise<number[]> {
    const rows = await this.#rows(
      `SELECT node FROM ${this.#schema}.nodes
        WHERE lease_end > clock_timestamp() + $1 * interval '1 ms' ORDER BY node`,
      [RENEWED_MS],
    );
    return rows.map((row) => NodeRow.parse(row).node);
  }

  /** What is wrong with the owners that there were: an epoch of a session has one. */
  async faults(): Promise<string[]> {
    const rows = await this.#rows(`SELECT DISTINCT stream, epoch, owner FROM ${this.#schema}.test_owners`);
    const owners = Map.groupBy(
      rows.map((row) => HistoryRow.parse(row)),
      ({ stream, epoch }) => `${stream} ${epoch}`,
    );
    return [...owners]
      .filter(([, all]) => all.length > 1)
      .map(([epoch, all]) => `epoch ${epoch} has the owners ${all.map(({ owner }) => owner).join(', ')}`);
  }

  /** The sessions that had more than one owner. */
  async moves(): Promise<number> {
    const rows = await this.#rows(
      `SELECT stream FROM ${this.#schema}.test_owners GROUP BY stream HAVING count(DISTINCT owner) > 1`,
    );
    return rows.length;
  }

  /** The seqs of each stream as the table has them. */
  async seqs(): Promise<Map<string, number[]>> {
    const rows = await this.#rows(
      `SELECT stream, array_agg(seq ORDER BY seq) AS seqs FROM ${this.#schema}.events GROUP BY stream`,
    );
    return new Map(rows.map((row) => EventRow.parse(row)).map(({ stream, seqs }) => [stream, seqs]));
  }

  /** A connection of its own, because the database may have been started again. */
  async #rows(text: string, values: readonly unknown[] = []): Promise<unknown[]> {
    const client = new Client({ connectionString: this.#url });
    await client.connect();
    try {
      return (await client.query(text, values.length > 0 ? [...values] : undefined)).rows;
    } finally {
      await client.end();
    }
  }
}
