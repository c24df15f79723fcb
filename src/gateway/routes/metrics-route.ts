import type { MetricsReport } from '../../core/metric-catalogue.ts';
import type { Metrics } from '../../ports/metrics.ts';
import { acceptsByName } from '../http/content-negotiation.ts';
import { jsonResponse, now } from '../http/http-message.ts';
import type { Route } from '../http/router.ts';

/** `GET /metrics`: the text format of Prometheus, or JSON for a client that names it in `Accept`. */
export function metricsRoute(metrics: Metrics): Route {
  return {
    method: 'GET',
    path: '/metrics',
    handler: async (request) => {
      if (await acceptsByName(request, 'application/json'))
        return jsonResponse<MetricsReport>({ metrics: await metrics.families(), timestamp: now() });
      const { contentType, body } = await metrics.text();
      return { status: 200, headers: { 'Content-Type': contentType }, body };
    },
  };
}
