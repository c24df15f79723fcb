import { JsonRpcError, MCP_CODES } from '../../core/json-rpc.ts';
import type { SamplingConfig } from '../../core/tool-server/sampling-config.ts';

/** What one tool server has used of its budget in one turn. */
export class SamplingBudget {
  readonly #config: SamplingConfig;
  #requests = 0;
  #tokens = 0;

  constructor(config: SamplingConfig) {
    this.#config = config;
  }

  /**
   * Counts a request. Throws a `JsonRpcError` if the budget is used up.
   * @returns how many tokens the request may take, of those that it wants. They are used until `settle`.
   */
  take(wanted: number): number {
    const { maxRequests, maxTokens } = this.#config;
    if (this.#requests >= maxRequests) throw usedUp(`maxRequests: ${maxRequests}`);
    const left = maxTokens - this.#tokens;
    if (left < 1) throw usedUp(`maxTokens: ${maxTokens}`);
    const granted = Math.min(wanted, left);
    this.#requests += 1;
    this.#tokens += granted;
    return granted;
  }

  /** @param used tokens, in place of those that were granted. */
  settle(granted: number, used: number): void {
    this.#tokens += used - granted;
  }
}

function usedUp(limit: string): JsonRpcError {
  const message = `the budget of this server for the agent's model is used up in this turn (sampling.${limit})`;
  return new JsonRpcError(MCP_CODES.rejected, message);
}
