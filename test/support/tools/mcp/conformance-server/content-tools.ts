import { setTimeout as delay } from 'node:timers/promises';
import {
  type CallToolResult,
  fromJsonSchema,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { AUDIO, IMAGE } from './media.ts';

/** The suite wants to hear messages one by one. */
const PAUSE_MS = 50;

const text = (said: string): CallToolResult => ({ content: [{ type: 'text', text: said }] });

/** Tools with a fixed answer. */
const ANSWERS: Readonly<Record<string, CallToolResult>> = {
  test_simple_text: text('This is a simple text response for testing.'),
  test_image_content: { content: [{ type: 'image', data: IMAGE, mimeType: 'image/png' }] },
  test_audio_content: { content: [{ type: 'audio', data: AUDIO, mimeType: 'audio/wav' }] },
  test_embedded_resource: {
    content: [
      {
        type: 'resource',
        resource: {
          uri: 'test://embedded-resource',
          mimeType: 'text/plain',
          text: 'This is an embedded resource content.',
        },
      },
    ],
  },
  test_multiple_content_types: {
    content: [
      { type: 'text', text: 'Multiple content types test:' },
      { type: 'image', data: IMAGE, mimeType: 'image/png' },
      {
        type: 'resource',
        resource: {
          uri: 'test://mixed-content-resource',
          mimeType: 'application/json',
          text: '{"test":"data","value":123}',
        },
      },
    ],
  },
  test_error_handling: {
    content: [{ type: 'text', text: 'This tool intentionally returns an error for testing' }],
    isError: true,
  },
};

/** What the suite looks for in the list of tools, to the letter. */
const SCHEMA_2020_12 = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
};

const HEADER_SCHEMA = {
  type: 'object',
  properties: { region: { type: 'string', 'x-mcp-header': 'Region' } },
  required: ['region'],
};

/** Tools that answer without asking anything. */
export function addContentTools(server: McpServer): void {
  for (const [name, answer] of Object.entries(ANSWERS)) {
    server.registerTool(name, { description: `Answers as ${name} must.` }, async () => answer);
  }
  for (const name of ['test_tool_with_logging', 'test_logging_tool'])
    server.registerTool(name, { description: 'Logs three times.' }, logging);
  server.registerTool(
    'test_tool_with_progress',
    { description: 'Tells its progress three times.' },
    progressing,
  );
  server.registerTool(
    'json_schema_2020_12_tool',
    { description: 'Tool with JSON Schema 2020-12 features', inputSchema: fromJsonSchema(SCHEMA_2020_12) },
    async () => text('done'),
  );
  server.registerTool(
    'test_header_tool',
    {
      description: 'Has a parameter that is a header, too.',
      inputSchema: fromJsonSchema<{ region: string }>(HEADER_SCHEMA),
    },
    async ({ region }) => text(region),
  );
  addChangingTool(server);
  server.registerTool(
    'test_trigger_prompt_change',
    { description: 'Adds a prompt and removes it.' },
    async () => {
      const added = server.registerPrompt('test_added_prompt', { argsSchema: z.object({}) }, async () => ({
        messages: [],
      }));
      added.remove();
      return text('The prompts have changed.');
    },
  );
}

/** Who lists the tools after the change finds another list than before. */
function addChangingTool(server: McpServer): void {
  const description = 'Adds a tool, or removes it again.';
  let added: { remove(): void } | undefined;
  server.registerTool('test_trigger_tool_change', { description }, async () => {
    added?.remove();
    const comes = { description: 'Comes and goes.' };
    added = added ? undefined : server.registerTool('test_added_tool', comes, async () => text('here'));
    return text('The tools have changed.');
  });
}

async function logging({ mcpReq }: ServerContext): Promise<CallToolResult> {
  for (const message of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
    await mcpReq.log('info', message);
    await delay(PAUSE_MS);
  }
  return text('Tool with logging executed successfully');
}

async function progressing({ mcpReq }: ServerContext): Promise<CallToolResult> {
  const progressToken = mcpReq._meta?.progressToken;
  for (const progress of [0, 50, 100]) {
    if (progressToken !== undefined) {
      const params = { progressToken, progress, total: 100, message: `Completed step ${progress} of 100` };
      await mcpReq.notify({ method: 'notifications/progress', params });
    }
    await delay(PAUSE_MS);
  }
  return text('Progress completed');
}
