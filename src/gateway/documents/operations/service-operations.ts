import { z } from 'zod';
import { MetricsReport } from '../../../core/metric-catalogue.ts';
import { StatechartsQuery } from '../../../wire/requests.ts';
import { HealthResponse, ReadyResponse, StatechartsResponse } from '../../../wire/responses.ts';
import { EVENT_STREAM_TYPE, JSON_TYPE, type Operation, ok, EXAMPLE_TIME as timestamp } from './operation.ts';

const health: Operation = {
  id: 'getHealth',
  method: 'GET',
  path: '/api/health',
  tag: 'Service',
  summary: 'Whether the service is well',
  answers: { [JSON_TYPE]: HealthResponse },
  errors: [],
  examples: [
    {
      name: 'healthy',
      summary: 'It is',
      answer: ok({
        status: 'healthy',
        version: '0.1.0',
        uptime: 12.5,
        agent: { status: 'ready', connectedServers: 1 },
      }),
    },
  ],
};

const readiness: Operation = {
  id: 'probeReadiness',
  method: 'GET',
  path: '/readyz',
  tag: 'Service',
  summary: 'Whether messages can be taken, in every mode and without a limit',
  description: 'A small write has reached the disk within the last seconds, and the service is not stopping.',
  answers: { [JSON_TYPE]: ReadyResponse },
  errors: ['SERVICE_UNAVAILABLE'],
  examples: [{ name: 'ready', summary: 'They can', answer: ok({ status: 'ready' }) }],
};

const everything = {
  id: 'mcp-server:everything',
  machine: 'mcp-server',
  value: 'connected',
  context: { name: 'everything', failures: 0, toolCount: 13, error: null },
  event: null,
  status: 'active',
  time: timestamp,
};

const statecharts: Operation = {
  id: 'watchStatecharts',
  method: 'GET',
  path: '/api/statecharts',
  tag: 'Service',
  summary: 'Where each running state machine is',
  description:
    'A client that accepts `text/event-stream` gets an event `machine` for each of them, and another one wherever it goes.',
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
      answer: ok({ machines: [everything] }),
    },
    {
      name: 'stream',
      summary: 'The same, and what follows',
      answer: {
        status: 200,
        mediaType: EVENT_STREAM_TYPE,
        body: `event: machine\ndata: ${JSON.stringify(everything)}\n\n`,
      },
    },
  ],
};

const configuration: Operation = {
  id: 'exportConfiguration',
  method: 'GET',
  path: '/api/config.yaml',
  tag: 'Service',
  summary: 'The agent file as it is now',
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

const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

const metrics: Operation = {
  id: 'readMetrics',
  method: 'GET',
  path: '/metrics',
  tag: 'Service',
  summary: 'Numbers for operators, in every mode and without a limit',
  description: 'In the text format of Prometheus; as JSON for a client that accepts `application/json`.',
  answers: { [METRICS_TYPE]: z.string(), [JSON_TYPE]: MetricsReport },
  errors: [],
  examples: [
    {
      name: 'prometheus',
      summary: 'Part of what Prometheus reads',
      answer: {
        status: 200,
        mediaType: METRICS_TYPE,
        body: '# HELP agent_sessions Sessions in memory.\n# TYPE agent_sessions gauge\n',
      },
    },
  ],
};

/** The service itself: is it well, what does it do, what was it told to be. */
export const serviceOperations: readonly Operation[] = [
  health,
  {
    ...health,
    id: 'probeHealth',
    path: '/healthz',
    summary: 'The same for orchestrators, in every mode and without a limit',
  },
  readiness,
  metrics,
  statecharts,
  configuration,
];
