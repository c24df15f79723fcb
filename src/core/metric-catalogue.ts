import { z } from 'zod';

/** The declaration of a metric. */
export interface MetricDeclaration {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  /** A label has few values and is never an id, because every combination is a series that is kept for ever. */
  readonly labels?: readonly string[];
  /** Upper bounds of a histogram's buckets, in seconds. */
  readonly buckets?: readonly number[];
}

/** A good disk takes a tenth of a millisecond. */
const DISK_SECONDS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1];
const CALL_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];

/**
 * The metrics of `/metrics`. prom-client's default metrics of the process and of Node.js come on top.
 * docs/operations.md repeats this table and the Grafana dashboard queries these names; a test compares the three.
 */
const metricCatalogue = {
  agent_turns_total: {
    type: 'counter',
    labels: ['outcome'],
    help: 'Turns that ended: completed, failed, cancelled.',
  },
  agent_turns_resumed_total: {
    type: 'counter',
    help: 'Turns that continued after a restart, or after a fault of the log.',
  },
  agent_steps_total: { type: 'counter', help: 'Model calls that ended with a reply.' },
  agent_tokens_total: {
    type: 'counter',
    labels: ['direction'],
    help: 'Tokens as the provider counts them: input, output, cached (part of input), reasoning (part of output).',
  },
  agent_chunks_total: { type: 'counter', help: 'Pieces of replies that were streamed.' },
  agent_http_requests_total: {
    type: 'counter',
    labels: ['status'],
    help: 'Answered HTTP requests by the class of the status: 2xx, 3xx, 4xx, 5xx.',
  },
  agent_rate_limited_total: {
    type: 'counter',
    labels: ['limit'],
    help: 'Refusals by a limit: requests, messages, connections; of clients with limits of their own also sessions, running_turns.',
  },
  agent_slow_readers_closed_total: {
    type: 'counter',
    help: 'WebSockets closed with 1013 because their client did not read.',
  },
  agent_sessions_expired_total: {
    type: 'counter',
    help: 'Sessions that were deleted because they were older than sessions.retentionDays.',
  },
  agent_push_attempts_total: {
    type: 'counter',
    labels: ['outcome'],
    help: 'Attempts to send a push notification: accepted, refused (another status than 2xx), unanswered, forbidden (an address that is not public).',
  },
  agent_turns_running: { type: 'gauge', help: 'Turns that are open now, in sessions in memory.' },
  agent_messages_waiting: { type: 'gauge', help: 'Messages that wait behind a running turn.' },
  agent_sessions: { type: 'gauge', help: 'Sessions in memory.' },
  agent_sockets: {
    type: 'gauge',
    labels: ['kind'],
    help: 'Open streams to clients: websocket, event_stream (of a session, a reply or a tool call), statecharts.',
  },
  agent_mcp_sessions: { type: 'gauge', help: 'MCP sessions of clients at /mcp.' },
  agent_socket_buffered_bytes: {
    type: 'gauge',
    help: 'Bytes kept for WebSockets whose clients do not read.',
  },
  agent_sockets_behind: { type: 'gauge', help: 'WebSockets for which bytes are kept.' },
  agent_mcp_servers: {
    type: 'gauge',
    labels: ['status'],
    help: 'Tool servers: connected, connecting, error, disconnected.',
  },
  agent_append_duration_seconds: {
    type: 'histogram',
    buckets: DISK_SECONDS,
    help: 'Time from a request to append until its events are durable.',
  },
  agent_sync_duration_seconds: {
    type: 'histogram',
    buckets: DISK_SECONDS,
    help: 'Time to commit one batch of appends, including the disk synchronisation.',
  },
  agent_appends_waiting: { type: 'gauge', help: 'Appends whose events are not durable yet.' },
  agent_model_first_text_seconds: {
    type: 'histogram',
    buckets: CALL_SECONDS,
    help: 'Time from calling the model to the first text.',
  },
  agent_model_call_duration_seconds: {
    type: 'histogram',
    buckets: CALL_SECONDS,
    labels: ['outcome'],
    help: 'Time of whole model calls: completed, failed, cancelled.',
  },
  agent_tool_call_duration_seconds: {
    type: 'histogram',
    buckets: CALL_SECONDS,
    labels: ['server', 'outcome'],
    help: 'Time of tool calls, by tool server: succeeded, failed.',
  },
  agent_log_bytes: {
    type: 'gauge',
    labels: ['file'],
    help: 'Bytes of the event log on the disk: database, wal.',
  },
  agent_log_events: { type: 'gauge', help: 'Events in the log, of all sessions.' },
  agent_cluster_nodes: {
    type: 'gauge',
    help: 'Nodes whose leases have not ended, this one included, as it read them last.',
  },
  agent_cluster_bus_up: {
    type: 'gauge',
    help: 'Whether this node can talk to the others: 1, and 0 while it cannot reach NATS.',
  },
  agent_cluster_messages_dropped_total: {
    type: 'counter',
    help: 'Messages to and from other nodes that were dropped, because NATS was away or too slow.',
  },
  agent_cluster_signals_held: {
    type: 'gauge',
    help: 'Events and pieces of replies that clients are not told yet, because the lease of the node may have ended.',
  },
  agent_event_loop_lag_seconds: {
    type: 'gauge',
    labels: ['quantile'],
    help: 'Delay of the event loop in the last ten seconds or so: 0.5, 0.99, max.',
  },
  agent_build_info: { type: 'gauge', labels: ['version'], help: 'Always 1; its label is the version.' },
  process_cpu_seconds_total: { type: 'counter', help: 'CPU time of the process, all threads.' },
  process_resident_memory_bytes: { type: 'gauge', help: 'Resident memory of the process.' },
  process_heap_bytes: { type: 'gauge', help: 'Used heap of the main thread.' },
  process_start_time_seconds: { type: 'gauge', help: 'When the process started, in Unix seconds.' },
  process_uptime_seconds: { type: 'gauge', help: 'Seconds since the process started.' },
} as const satisfies Record<string, MetricDeclaration>;

export type MetricName = keyof typeof metricCatalogue;

export const metricDeclarations: ReadonlyMap<string, MetricDeclaration> = new Map(
  Object.entries(metricCatalogue),
);

type NamesOf<T extends MetricDeclaration['type']> = {
  [N in MetricName]: (typeof metricCatalogue)[N]['type'] extends T ? N : never;
}[MetricName];

export type CounterName = NamesOf<'counter'>;
export type GaugeName = NamesOf<'gauge'>;
export type HistogramName = NamesOf<'histogram'>;

/** A value for each label of the metric, no more and no fewer. */
export type LabelsOf<N extends MetricName> = (typeof metricCatalogue)[N] extends {
  labels: readonly (infer L extends string)[];
}
  ? Readonly<Record<L, string>>
  : Readonly<Record<never, never>>;

/** Body of `GET /metrics` with `Accept: application/json`. Histograms have the same values as in the text format. */
export const MetricsReport = z.object({
  metrics: z.array(
    z.object({
      name: z.string(),
      help: z.string(),
      type: z.enum(['counter', 'gauge', 'histogram']),
      values: z.array(
        z.object({
          value: z.number(),
          labels: z.record(z.string(), z.union([z.string(), z.number()])),
          /** Only in histograms: `…_bucket`, `…_sum` or `…_count`. */
          metricName: z.string().optional(),
        }),
      ),
    }),
  ),
  timestamp: z.string(),
});
export type MetricsReport = z.infer<typeof MetricsReport>;
export type MetricFamily = MetricsReport['metrics'][number];
