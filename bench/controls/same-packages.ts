/* Imported before the plain control: the packages that the service stands on, for a start with as much on board. */
import '@modelcontextprotocol/sdk/client/index.js';
import '@modelcontextprotocol/sdk/client/stdio.js';
import '@modelcontextprotocol/sdk/client/streamableHttp.js';
import '@modelcontextprotocol/sdk/server/mcp.js';
import '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import 'ajv';
import 'commander';
import 'eventemitter3';
import 'eventsource-parser';
import 'openai';
import 'pino';
import 'rate-limiter-flexible';
import 'uWebSockets.js';
import 'xstate';
import 'yaml';
import 'zod';
