import type { EventStore } from '../../ports/event-store.ts';
import type { LanguageModel } from '../../ports/language-model.ts';
import type { LogBackup } from '../../ports/log-backup.ts';
import type { Metrics } from '../../ports/metrics.ts';
import type { SchemaCheck } from '../../ports/schema-check.ts';
import type { SecretBox } from '../../ports/secret-box.ts';
import type { ServerAuthorizations } from '../../ports/server-authorization.ts';
import type { SnapshotStore } from '../../ports/snapshot-store.ts';
import type { ToolServerConnector } from '../../ports/tool-server.ts';
import type { Tracing } from '../../ports/tracing.ts';
import type { Cluster } from '../../runtime/cluster/cluster.ts';

/** The implementations of the ports. Tests pass their own. */
export interface Adapters {
  readonly store: EventStore;
  /** Left out when the log is not on a disk. */
  readonly backup?: LogBackup;
  readonly snapshots: SnapshotStore;
  readonly model: LanguageModel;
  readonly connector: ToolServerConnector;
  /** Left out when the connector knows no OAuth. */
  readonly authorizations?: ServerAuthorizations;
  readonly schemas: SchemaCheck;
  /** Encrypts the secrets in the log. */
  readonly secrets: SecretBox;
  readonly metrics: Metrics;
  /** Left out when tracing is off. */
  readonly tracing?: Tracing;
  /** Resolves when another service has taken over the log. Left out where that cannot be. */
  readonly lost?: Promise<Error>;
  /** The other services that share the log. Left out where one has it. */
  readonly cluster?: Cluster | undefined;
  /** What the streams of the agent begin with. Left out where they begin with nothing. */
  readonly streamPrefix?: string;
}
