import { setTimeout as delay } from 'node:timers/promises';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import type { CallToolResult, ServerNotification, ServerRequest } from '@modelcontextprotocol/sdk/types.js';
import type { jsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/types.js';
import { z } from 'zod';
import { readPackageVersion } from '../../app/package-root.ts';
import { yellowImage } from '../check/yellow-image.ts';
import { City, weatherIn } from './weather.ts';

/** The tools read only, so the agent may repeat them after a crash. */
const annotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

/** The SDK would load Ajv, to check answers to questions that this server never asks. */
const noValidator: jsonSchemaValidator = {
  getValidator() {
    throw new Error('the example tools ask their client nothing');
  },
};

/**
 * An MCP server on standard input and output, for agents that try things out without a network. The names and answers
 * are those of `@modelcontextprotocol/server-everything`, so that the two can take each other's place.
 */
export async function serveExampleTools(): Promise<void> {
  const server = new McpServer(
    { name: 'agent-service-example-tools', version: readPackageVersion() },
    { capabilities: { logging: {} }, jsonSchemaValidator: noValidator },
  );
  addTextTools(server);
  addRichTools(server);
  addLongOperation(server);
  await server.connect(new StdioServerTransport());
}

function addTextTools(server: McpServer): void {
  server.registerTool(
    'echo',
    {
      title: 'Echo',
      description: 'Echoes back the input string',
      inputSchema: { message: z.string().describe('Message to echo') },
      annotations,
    },
    ({ message }) => textResult(`Echo: ${message}`),
  );
  server.registerTool(
    'get-sum',
    {
      title: 'Sum',
      description: 'Returns the sum of two numbers',
      inputSchema: { a: z.number().describe('First number'), b: z.number().describe('Second number') },
      annotations,
    },
    ({ a, b }) => textResult(`The sum of ${a} and ${b} is ${a + b}.`),
  );
  server.registerTool(
    'get-env',
    {
      title: 'Environment',
      description: 'Returns the environment variables of this tool server',
      inputSchema: {},
      annotations,
    },
    () => textResult(JSON.stringify(process.env, null, 2)),
  );
}

function addRichTools(server: McpServer): void {
  server.registerTool(
    'get-tiny-image',
    { title: 'Tiny image', description: 'Returns a small yellow image', inputSchema: {}, annotations },
    () => {
      const { base64: data, mimeType } = yellowImage();
      return {
        content: [
          { type: 'text', text: "Here's the image you requested:" },
          { type: 'image', data, mimeType },
        ],
      };
    },
  );
  server.registerTool(
    'get-structured-content',
    {
      title: 'Structured content',
      description: 'Returns the made-up weather of a city as structured content',
      inputSchema: { location: City.describe('Choose city') },
      outputSchema: {
        temperature: z.number().describe('Temperature in celsius'),
        conditions: z.string().describe('Weather conditions description'),
        humidity: z.number().describe('Humidity percentage'),
      },
      annotations,
    },
    ({ location }) => {
      const weather = weatherIn(location);
      return { ...textResult(JSON.stringify(weather)), structuredContent: { ...weather } };
    },
  );
}

function addLongOperation(server: McpServer): void {
  server.registerTool(
    'trigger-long-running-operation',
    {
      title: 'Long running operation',
      description: 'Demonstrates a long running operation with progress updates',
      inputSchema: {
        duration: z.number().min(0).max(3_600).default(10).describe('Duration of the operation in seconds'),
        steps: z.int().min(1).max(1_000).default(5).describe('Number of steps in the operation'),
      },
      annotations,
    },
    async ({ duration, steps }, call) => {
      for (let step = 1; step <= steps; step += 1) {
        await delay((duration / steps) * 1_000, undefined, { signal: call.signal });
        await reportProgress(call, step, steps);
        await server.sendLoggingMessage({ level: 'info', data: `step ${step} of ${steps} is done` });
      }
      const summary = `Duration: ${duration} seconds, Steps: ${steps}.`;
      return textResult(`Long running operation completed. ${summary}`);
    },
  );
}

async function reportProgress(
  { _meta, sendNotification }: RequestHandlerExtra<ServerRequest, ServerNotification>,
  progress: number,
  total: number,
): Promise<void> {
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined) return;
  await sendNotification({ method: 'notifications/progress', params: { progressToken, progress, total } });
}

function textResult(text: string): CallToolResult {
  return { content: [{ type: 'text', text }] };
}
