import type { Environment } from '../../config/reading/expand.ts';
import type { AgentConfig } from '../../config/schema/agent-config.ts';

/**
 * The URL to send spans to; undefined if tracing is off. OpenTelemetry's own variables win over the agent file. The
 * variable for traces is used as it is; the other settings are a root, to which `/v1/traces` is appended.
 */
export function tracesUrl(
  { otlpEndpoint }: AgentConfig['telemetry'],
  environment: Environment,
): string | undefined {
  if (environment.OTEL_SDK_DISABLED?.toLowerCase() === 'true') return undefined;
  const exact = variable('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', environment);
  if (exact !== undefined) return exact;
  const root = variable('OTEL_EXPORTER_OTLP_ENDPOINT', environment) ?? otlpEndpoint;
  return root === undefined ? undefined : `${root.replace(/\/+$/, '')}/v1/traces`;
}

function variable(name: string, environment: Environment): string | undefined {
  const value = environment[name]?.trim() || undefined;
  if (value === undefined || /^https?:$/.test(URL.parse(value)?.protocol ?? '')) return value;
  throw new Error(`${name}: found no http:// or https:// URL; expected one such as http://127.0.0.1:4318`);
}
