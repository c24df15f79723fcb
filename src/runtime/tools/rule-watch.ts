import type { ApprovalConfig } from '../../core/tool-call/approval-policy.ts';
import { type UnmatchedRule, unmatchedRules } from '../../core/tool-call/unmatched-rules.ts';
import type { Logger } from '../../ports/logger.ts';
import type { ToolServers } from './tool-servers.ts';

/** Warns of approval rules that match no tool: at the start, and whenever the tools of a server have changed. */
export class RuleWatch {
  #approval: ApprovalConfig;
  readonly #servers: ToolServers;
  readonly #log: Logger;
  /** What was logged about a rule, by its place. */
  #logged = new Map<number, string>();

  constructor(approval: ApprovalConfig, servers: ToolServers, log: Logger) {
    this.#approval = approval;
    this.#servers = servers;
    this.#log = log;
    servers.onChange(() => this.#check());
  }

  /** The rules are others from now on. */
  use(approval: ApprovalConfig): void {
    this.#approval = approval;
    this.#logged = new Map();
    this.#check();
  }

  /** What an operator should know now. */
  warnings(): readonly string[] {
    return this.#unmatched().map(({ reason }) => reason);
  }

  #check(): void {
    const unmatched = this.#unmatched();
    for (const { index, reason } of unmatched) {
      if (this.#logged.get(index) !== reason) this.#log.warn({}, reason);
    }
    this.#logged = new Map(unmatched.map(({ index, reason }) => [index, reason]));
  }

  /** None while servers are still starting, because their tools are not known yet. */
  #unmatched(): readonly UnmatchedRule[] {
    if (this.#approval.rules.length === 0 || this.#servers.firstAttempts() !== null) return [];
    return unmatchedRules(this.#approval, this.#servers.toolNames());
  }
}
