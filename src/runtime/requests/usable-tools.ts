import { type Owner, ownPrefix } from '../../core/access/session-names.ts';
import { contentHash } from '../../core/content-hash.ts';
import { ServiceError } from '../../core/errors.ts';
import type { ClientTool } from '../../core/tool-call/client-tool.ts';
import type { TurnOptions } from '../../core/turn/turn-options.ts';
import type { SchemaCheck } from '../../ports/schema-check.ts';

/** Most lists of tools that are known to be usable. */
const MOST_KNOWN = 1_000;

/** The tools that clients lend. One whose schema cannot be used would be called with any arguments. */
export class UsableTools {
  readonly #schemas: Pick<SchemaCheck, 'ofClient'>;
  /** Hashes of lists that were checked: clients send the same tools with each message. The newest stands last. */
  readonly #known = new Set<string>();

  constructor(schemas: Pick<SchemaCheck, 'ofClient'>) {
    this.#schemas = schemas;
  }

  /** Rejects with `INVALID_REQUEST` if a schema cannot be used. Undefined, at once, for a message without tools. */
  require({ clientTools }: TurnOptions = {}, client: Owner): Promise<void> | undefined {
    return clientTools && this.#require(clientTools, ownPrefix(client));
  }

  /** A schema that cannot be checked in time is checked with each call. */
  async #require(tools: readonly ClientTool[], owner: string): Promise<void> {
    const hash = await contentHash(tools.map(({ inputSchema }) => inputSchema));
    if (this.#known.delete(hash)) {
      this.#known.add(hash);
      return;
    }
    for (const [index, { name, inputSchema }] of tools.entries()) {
      const { unusable } = await this.#schemas.ofClient(inputSchema, {}, owner);
      if (unusable !== undefined) throw unusableTool(`clientTools.${index}.inputSchema`, name, unusable);
    }
    this.#known.add(hash);
    const [oldest] = this.#known;
    if (this.#known.size > MOST_KNOWN && oldest !== undefined) this.#known.delete(oldest);
  }
}

function unusableTool(field: string, toolName: string, issue: string): ServiceError {
  return new ServiceError('INVALID_REQUEST', `The schema of the tool ${toolName} cannot be used: ${issue}.`, {
    ...{ field, issue, toolName },
    suggestion: 'Send a valid JSON Schema of type object.',
  });
}
