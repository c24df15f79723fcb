import { z } from 'zod';
import { HealthResponse } from '../../contract/responses.ts';
import { messageOperations } from './message-operations.ts';
import { JSON_TYPE, type Operation, EXAMPLE_TIME as timestamp } from './operation.ts';
import { serverOperations } from './server-operations.ts';
import { sessionOperations } from './session-operations.ts';

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
      answer: {
        status: 200,
        body: {
          status: 'healthy',
          version: '0.1.0',
          uptime: 12.5,
          agent: { status: 'ready', connectedServers: 1 },
          timestamp,
        },
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

/** The whole REST interface, in the order in which the documents tell of it. */
export const operations: readonly Operation[] = [
  ...messageOperations,
  ...sessionOperations,
  ...serverOperations,
  health,
  {
    ...health,
    id: 'probeHealth',
    path: '/healthz',
    summary: 'The same for orchestrators, in every mode and without a limit',
  },
  configuration,
];
