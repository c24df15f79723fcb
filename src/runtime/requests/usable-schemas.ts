import { type Owner, ownPrefix } from '../../core/access/session-names.ts';
import { ServiceError } from '../../core/errors.ts';
import type { TurnOptions } from '../../core/turn/turn-options.ts';
import type { SchemaCheck } from '../../ports/schema-check.ts';

/** A larger one would hold up the thread that checks the schemas of all clients. */
const MOST_CHARACTERS = 100_000;
/** Most schemas of one client that wait. What comes beyond is checked with the reply only. */
const MOST_WAITING = 100;

interface Queue {
  last: Promise<unknown>;
  waiting: number;
}

/**
 * Checks the schemas that messages bring, before a model is asked in vain. Those of one client are checked one after the
 * other: however slow they are, a client waits for one schema of each other client at most.
 */
export class UsableSchemas {
  readonly #schemas: Pick<SchemaCheck, 'ofClient'>;
  readonly #queues = new Map<string, Queue>();

  constructor(schemas: Pick<SchemaCheck, 'ofClient'>) {
    this.#schemas = schemas;
  }

  /**
   * Rejects with `INVALID_REQUEST` if no reply could fit the schema of the message. Undefined, at once, for a message
   * without a schema.
   */
  require(options: TurnOptions | undefined, client: Owner): Promise<void> | undefined {
    const schema = options?.output?.schema;
    return schema && this.#inTurn(ownPrefix(client), () => requireUsable(schema, this.#schemas));
  }

  #inTurn(owner: string, check: () => Promise<void>): Promise<void> | undefined {
    const queue = this.#queues.get(owner) ?? { last: Promise.resolve(), waiting: 0 };
    if (queue.waiting >= MOST_WAITING) return undefined;
    this.#queues.set(owner, queue);
    queue.waiting += 1;
    const checked = queue.last.then(check).finally(() => {
      queue.waiting -= 1;
      if (queue.waiting === 0) this.#queues.delete(owner);
    });
    queue.last = checked.catch(() => undefined);
    return checked;
  }
}

async function requireUsable(
  schema: Readonly<Record<string, unknown>>,
  schemas: Pick<SchemaCheck, 'ofClient'>,
): Promise<void> {
  const { length } = JSON.stringify(schema);
  const unusable =
    length > MOST_CHARACTERS
      ? `it has ${length} characters, and may have ${MOST_CHARACTERS}`
      : (await schemas.ofClient(schema, null)).unusable;
  if (unusable === undefined) return;
  throw new ServiceError('INVALID_REQUEST', `The schema for the reply cannot be used: ${unusable}.`, {
    field: 'outputSchema',
    issue: unusable,
    suggestion: 'Send a valid JSON Schema of reasonable size.',
  });
}
