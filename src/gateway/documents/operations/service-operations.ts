import { z } from 'zod';
import { MetricsReport } from '../../../core/metric-catalogue.ts';
import { scopeOf } from '../../../ports/request-rules.ts';
import { MetricSamplesQuery, StatechartsQuery } from '../../../wire/requests.ts';
import {
  BackupResponse,
  HealthResponse,
  MetricSamplesResponse,
  ReadyResponse,
  StatechartsResponse,
} from '../../../wire/responses.ts';
import { toolServerMachine } from './machine-example.ts';
import { EVENT_STREAM_TYPE, JSON_TYPE, type Operation, ok, EXAMPLE_TIME as timestamp } from './operation.ts';

const healthy = {
  status: 'healthy',
  version: '0.1.0',
  uptime: 12.5,
  agent: { name: 'agent-service', status: 'ready', connectedServers: 2 },
};

const health: Operation = {
  id: 'getHealth',
  scope: null,
  method: 'GET',
  path: '/api/health',
  tag: 'Service',
  summary: 'Health of the service',
  answers: { [JSON_TYPE]: HealthResponse },
  errors: [],
  examples: [
    {
      name: 'healthy',
      summary: 'The service is healthy',
      answer: ok({ ...healthy, log: { bytes: 45_056, events: 12 } }),
    },
  ],
};

const readiness: Operation = {
  id: 'probeReadiness',
  scope: 'open',
  method: 'GET',
  path: '/readyz',
  tag: 'Service',
  summary: 'Readiness for messages, in every mode and without a rate limit',
  description:
    'The service is ready if a test write reached the disk within the last seconds and the service is not stopping.',
  answers: { [JSON_TYPE]: ReadyResponse },
  errors: ['SERVICE_UNAVAILABLE'],
  examples: [{ name: 'ready', summary: 'The service is ready', answer: ok({ status: 'ready' }) }],
};

const statecharts: Operation = {
  id: 'watchStatecharts',
  scope: 'sessions:read',
  method: 'GET',
  path: '/api/statecharts',
  tag: 'Service',
  summary: 'State of each running state machine',
  description:
    'A client that accepts `text/event-stream` gets an event `machine` for each machine, and another for each transition.',
  query: StatechartsQuery,
  answers: {
    [JSON_TYPE]: StatechartsResponse,
    [EVENT_STREAM_TYPE]: z.string().describe('The data of each event is a `MachineState`.'),
  },
  errors: [],
  examples: [
    {
      name: 'now',
      summary: 'A tool server that is connected',
      answer: ok({ machines: [toolServerMachine] }),
    },
    {
      name: 'stream',
      summary: 'The same as an event stream',
      answer: {
        status: 200,
        mediaType: EVENT_STREAM_TYPE,
        body: `event: machine\ndata: ${JSON.stringify(toolServerMachine)}\n\n`,
      },
    },
  ],
};

const configuration: Operation = {
  id: 'exportConfiguration',
  scope: scopeOf('config.export'),
  method: 'GET',
  path: '/api/config.yaml',
  tag: 'Service',
  summary: 'The current agent file',
  description: 'Without secrets, and with the tool servers that were connected at run time.',
  answers: { 'application/yaml': z.string() },
  errors: [],
  examples: [
    {
      name: 'yaml',
      summary: 'An offline agent',
      answer: {
        status: 200,
        mediaType: 'application/yaml',
        body: 'version: "1.0"\nllm:\n  provider: scripted\n  model: offline\n',
      },
    },
  ],
};

const backup: Operation = {
  id: 'backUpLog',
  scope: scopeOf('log.backup'),
  method: 'POST',
  path: '/api/backup',
  tag: 'Service',
  summary: 'Copy the event log to a file beside it',
  description:
    'The copy is consistent, and the service goes on meanwhile. `agent-service backup --to DIR` fetches and checks it.',
  answers: { [JSON_TYPE]: BackupResponse },
  errors: ['INVALID_REQUEST', 'SERVICE_UNAVAILABLE'],
  examples: [
    {
      name: 'written',
      summary: 'The copy is complete',
      answer: ok({
        status: 'written',
        file: '/data/events.backup-3f8a1c52-9a57-4d0e-8f0b-6f1c2b7d9e10',
        bytes: 45_056,
      }),
    },
  ],
};

const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

const metrics: Operation = {
  id: 'readMetrics',
  scope: 'metrics:read',
  method: 'GET',
  path: '/metrics',
  tag: 'Service',
  summary: 'Metrics, in every mode and without a rate limit',
  description: 'In the text format of Prometheus; as JSON for a client that accepts `application/json`.',
  answers: { [METRICS_TYPE]: z.string(), [JSON_TYPE]: MetricsReport },
  errors: [],
  examples: [
    {
      name: 'prometheus',
      summary: 'Part of the text for Prometheus',
      answer: {
        status: 200,
        mediaType: METRICS_TYPE,
        body: '# HELP agent_sessions Sessions in memory.\n# TYPE agent_sessions gauge\n',
      },
    },
  ],
};

const metricSamples: Operation = {
  id: 'readMetricSamples',
  scope: 'metrics:read',
  method: 'GET',
  path: '/metrics/samples',
  tag: 'Service',
  summary: 'Metrics of the last hour, in every mode and without a rate limit',
  description:
    'The service samples its metrics every ten seconds and keeps an hour in memory. The last column of the answer is the present.',
  query: MetricSamplesQuery,
  answers: { [JSON_TYPE]: MetricSamplesResponse },
  errors: [],
  examples: [
    {
      name: 'later',
      summary: 'What came after sample 7: one sample, and the present',
      parameters: { after: 7 },
      answer: ok({
        intervalMs: 10_000,
        last: 8,
        times: [timestamp, timestamp],
        series: [
          { name: 'agent_turns_total', labels: { outcome: 'completed' }, statistic: 'value', values: [3, 4] },
          { name: 'agent_append_duration_seconds', labels: {}, statistic: 'mean', values: [0.0004, null] },
        ],
      }),
    },
  ],
};

/** The service itself: health, metrics, state machines and configuration. */
export const serviceOperations: readonly Operation[] = [
  health,
  {
    ...health,
    id: 'probeHealth',
    scope: 'open',
    path: '/healthz',
    summary: 'Liveness for orchestrators, in every mode and without a rate limit',
    examples: [{ name: 'healthy', summary: 'The service is healthy', answer: ok(healthy) }],
  },
  readiness,
  metrics,
  metricSamples,
  statecharts,
  configuration,
  backup,
];
