import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import type { Logger } from '../../ports/logger.ts';
import type { Tracing } from '../../ports/tracing.ts';
import { OtelTracing } from './otel-tracing.ts';
import { WatchedExporter } from './watched-exporter.ts';

export interface OpenTelemetryOptions {
  /** The collector's address. Spans are sent as JSON, by OTLP over HTTP. */
  readonly url: string;
  readonly version: string;
  /** This node, where several services share a log. */
  readonly node?: string | undefined;
  readonly log: Logger;
}

/**
 * Sends spans to a collector, in batches. The SDK reads the environment variables that OpenTelemetry defines for
 * headers, time-outs, batches and the resource.
 */
export function openTelemetry({ url, version, node, log }: OpenTelemetryOptions): Tracing {
  const exporter = new WatchedExporter(new OTLPTraceExporter({ url }), log);
  const resource = resourceFromAttributes({
    'service.name': 'agent-service',
    'service.version': version,
    ...(node !== undefined && { 'service.instance.id': node }),
  }).merge(detectResources({ detectors: [envDetector] }));
  const provider = new TracerProvider({ resource, spanProcessors: [new BatchSpanProcessor({ exporter })] });
  return new OtelTracing(provider, version, log);
}
