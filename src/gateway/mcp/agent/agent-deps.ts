import type { McpExposure } from '../../../config/schema/agent-config.ts';
import type { AgentIdentity } from '../../../core/agent-description.ts';
import type { MaxBytes } from '../../../core/size-limits.ts';
import type { Bus } from '../../../ports/bus.ts';
import type { Logger } from '../../../ports/logger.ts';
import type { SecretBox } from '../../../ports/secret-box.ts';

export interface McpAgentCard extends AgentIdentity {
  /** Of the service. */
  readonly version: string;
  /** Provider and model, for people. */
  readonly model: string;
}

export interface AgentSurfaceDeps {
  readonly bus: Bus;
  /** As the agent is now. */
  readonly card: () => McpAgentCard;
  /** The agent itself, and what of its tool servers is passed through. */
  readonly exposes: ReadonlySet<McpExposure>;
  readonly maxRequestBytes: MaxBytes;
  /** Seals what clients keep for the service. */
  readonly secrets: SecretBox;
  readonly log: Logger;
}
