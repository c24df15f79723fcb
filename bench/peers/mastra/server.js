// The peer `mastra`: an agent of Mastra behind Mastra's own routes, as its documentation of the Hono adapter shows it. It
// has no memory, so each message is a conversation of its own, and nothing is durable.
import { serve } from '@hono/node-server';
import { Agent } from '@mastra/core/agent';
import { Mastra } from '@mastra/core/mastra';
import { MastraServer } from '@mastra/hono';
import { Hono } from 'hono';

const agent = new Agent({
  id: 'bench',
  name: 'bench',
  instructions: 'You are a helpful assistant.',
  model: { providerId: 'bench', modelId: 'bench', url: process.env.BENCH_UPSTREAM, apiKey: 'none' },
});
const app = new Hono();
await new MastraServer({ app, mastra: new Mastra({ agents: { bench: agent }, logger: false }) }).init();
serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) => {
  process.stdout.write(`mastra is listening on http://127.0.0.1:${port}\n`);
});
