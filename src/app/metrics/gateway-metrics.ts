import type { HttpFront } from '../../gateway/http/http-front.ts';
import type { McpEndpoint } from '../../gateway/mcp/mcp-endpoint.ts';
import type { RateLimits } from '../../gateway/security/rate-limits.ts';
import type { Statecharts } from '../../gateway/sse/statecharts.ts';
import type { SocketLoad } from '../../gateway/stream/socket-load.ts';
import type { Metrics } from '../../ports/metrics.ts';

export interface WatchedGateway {
  readonly http: HttpFront;
  readonly limits: RateLimits;
  /** By the limits of principals and tenants. Absent where nobody is authenticated. */
  readonly refusals?: (() => Readonly<Record<string, number>>) | undefined;
  readonly statecharts: Statecharts;
  /** What WebSockets connect to. */
  readonly sockets: readonly { readonly load: SocketLoad }[];
  readonly mcp: Pick<McpEndpoint, 'sessions'>;
}

/** Shows the requests, the connections, the slow readers and the refusals by limits. */
export function showGateway(
  metrics: Metrics,
  { http, limits, refusals, statecharts, sockets, mcp }: WatchedGateway,
): void {
  const sumOf = (what: keyof SocketLoad): number => sockets.reduce((sum, { load }) => sum + load[what], 0);
  metrics.read('agent_http_requests_total', () =>
    Object.entries(http.answers).map(([status, value]) => ({ labels: { status }, value })),
  );
  metrics.read('agent_sockets', () => {
    const { streams } = statecharts;
    return [
      { labels: { kind: 'websocket' }, value: sumOf('sockets') },
      { labels: { kind: 'event_stream' }, value: http.eventStreams - streams },
      { labels: { kind: 'statecharts' }, value: streams },
    ];
  });
  metrics.read('agent_socket_buffered_bytes', () => [{ labels: {}, value: sumOf('bufferedBytes') }]);
  metrics.read('agent_sockets_behind', () => [{ labels: {}, value: sumOf('behind') }]);
  metrics.read('agent_slow_readers_closed_total', () => [{ labels: {}, value: sumOf('givenUp') }]);
  metrics.read('agent_mcp_sessions', () => [{ labels: {}, value: mcp.sessions }]);
  metrics.read('agent_rate_limited_total', () => {
    const total: Record<string, number> = { ...refusals?.() };
    for (const [limit, ofAnybody] of Object.entries(limits))
      total[limit] = (total[limit] ?? 0) + ofAnybody.refusals;
    return Object.entries(total).map(([limit, value]) => ({ labels: { limit }, value }));
  });
}
