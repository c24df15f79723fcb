/* Exactly the packages that the service loads when it starts with the default agent. */
import '@modelcontextprotocol/sdk/client/index.js';
import '@modelcontextprotocol/sdk/client/sse.js';
import '@modelcontextprotocol/sdk/client/streamableHttp.js';
import '@modelcontextprotocol/sdk/shared/stdio.js';
import 'commander';
import 'eventemitter3';
import 'pino';
import 'rate-limiter-flexible/lib/component/MemoryStorage/MemoryStorage.js';
import 'uWebSockets.js';
import 'xstate';
import 'yaml';
import 'zod';
