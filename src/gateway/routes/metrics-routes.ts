import type { MetricsReport } from '../../core/metric-catalogue.ts';
import type { MetricHistory, Metrics } from '../../ports/metrics.ts';
import { MetricSamplesQuery } from '../../wire/requests.ts';
import type { MetricSamplesResponse } from '../../wire/responses.ts';
import { acceptsByName } from '../http/content-negotiation.ts';
import { jsonResponse, now } from '../http/http-message.ts';
import { parseQuery } from '../http/request-query.ts';
import type { Route, RouteAccess } from '../http/router.ts';

/** The metrics now, and those of the last hour. */
export function metricsRoutes(
  metrics: Metrics,
  history: MetricHistory,
  access: RouteAccess = 'metrics:read',
): Route[] {
  return [metricsRoute(metrics, access), samplesRoute(history, access)];
}

/** `GET /metrics`: the text format of Prometheus, or JSON for a client that names it in `Accept`. */
function metricsRoute(metrics: Metrics, access: RouteAccess): Route {
  return {
    method: 'GET',
    path: '/metrics',
    access,
    handler: async (request) => {
      if (await acceptsByName(request, 'application/json'))
        return jsonResponse<MetricsReport>({ metrics: await metrics.families(), timestamp: now() });
      const { contentType, body } = await metrics.text();
      return { status: 200, headers: { 'Content-Type': contentType }, body };
    },
  };
}

/** `GET /metrics/samples?after=`. Not below `/api/`: a page that shows a busy service must not count against its limit. */
function samplesRoute(history: MetricHistory, access: RouteAccess): Route {
  return {
    method: 'GET',
    path: '/metrics/samples',
    access,
    handler: async (request) => {
      const { after } = parseQuery(MetricSamplesQuery, request);
      const samples = await history.since(after);
      return jsonResponse<MetricSamplesResponse>({ ...samples, timestamp: now() });
    },
  };
}
