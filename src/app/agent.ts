import type { McpExposure } from '../config/schema/agent-config.ts';
import type { AgentIdentity, AgentVersion } from '../core/agent-description.ts';
import type { SessionId, TurnId } from '../core/ids.ts';
import type { Bus } from '../ports/bus.ts';
import type { SecretBox } from '../ports/secret-box.ts';
import type { ServerAuthorizations } from '../ports/server-authorization.ts';
import type { GrantBook } from '../runtime/access/grant-book.ts';
import type { KeyBook } from '../runtime/access/key-book.ts';
import type { LocalBus } from '../runtime/bus/local-bus.ts';
import type { LiveMachines } from '../runtime/machines/live-machines.ts';
import type { FirstAttempt } from '../runtime/tools/mcp-supervisor.ts';
import type { AgentDefinition, TakenOver } from './agent-in-force.ts';
import type { SampledMetrics } from './metrics/sampled-metrics.ts';

/** Where other requests than those of the agent can be answered, and where all sessions can be heard. */
export type ServiceBus = Bus & Pick<LocalBus, 'handle' | 'onEverySession'>;

/** The agent without any protocol: every request to it goes over its bus. */
export interface Agent {
  readonly bus: ServiceBus;
  /** As the agent file says it now. */
  readonly identity: AgentIdentity;
  readonly modelLabel: string;
  readonly agentVersion: AgentVersion;
  /** What MCP clients find. */
  readonly exposes: ReadonlySet<McpExposure>;
  /** Must be told where browsers come back to. Undefined when the connector knows no OAuth. */
  readonly authorizations: ServerAuthorizations | undefined;
  /** The API keys. Undefined where the service has none. */
  readonly keys: KeyBook | undefined;
  /** Which sessions are shared. Undefined where sessions belong to nobody. */
  readonly grants: GrantBook | undefined;
  /** Seals secrets with the key of the service. */
  readonly secrets: SecretBox;
  /** For the inspector. */
  readonly machines: LiveMachines;
  readonly metrics: SampledMetrics;
  /** The first attempt to connect each tool server. */
  readonly toolServers: readonly FirstAttempt[];
  /** Resolves when all turns that were open at the last stop are running again. */
  readonly recovered: Promise<void>;
  /** The turns that run or wait for somebody now: this part of the service begins before others can hear it. */
  readonly openTurns: () => readonly { readonly sessionId: SessionId; readonly turnId: TurnId }[];
  /** Turns that begin from now on run with this. The model need not be measured. */
  takeOver(definition: AgentDefinition): TakenOver;
  /** Refuses new messages and waits up to `timeoutMs` for running turns. Open turns continue at the next start. */
  drain(timeoutMs: number): Promise<void>;
  /** Ends the tool servers and closes the log. */
  close(): Promise<void>;
}
