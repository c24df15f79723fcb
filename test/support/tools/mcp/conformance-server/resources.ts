import { type McpServer, ResourceTemplate } from '@modelcontextprotocol/server';
import { IMAGE } from './media.ts';

const WATCHED = 'test://watched-resource';

/** What can be read, and one resource that changes when a tool is called. */
export function addResources(server: McpServer): void {
  server.registerResource(
    'static-text',
    'test://static-text',
    { mimeType: 'text/plain' },
    async ({ href: uri }) => ({
      contents: [{ uri, mimeType: 'text/plain', text: 'This is the content of the static text resource.' }],
    }),
  );
  server.registerResource(
    'static-binary',
    'test://static-binary',
    { mimeType: 'image/png' },
    async ({ href: uri }) => ({
      contents: [{ uri, mimeType: 'image/png', blob: IMAGE }],
    }),
  );
  server.registerResource('watched', WATCHED, { mimeType: 'text/plain' }, async ({ href: uri }) => ({
    contents: [{ uri, mimeType: 'text/plain', text: 'Watched resource content' }],
  }));
  server.registerResource(
    'template',
    new ResourceTemplate('test://template/{id}/data', { list: undefined }),
    { mimeType: 'application/json' },
    async ({ href: uri }, { id }) => ({
      contents: [
        {
          uri,
          mimeType: 'application/json',
          text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${String(id)}` }),
        },
      ],
    }),
  );
  const subscribed = new Set<string>();
  server.server.setRequestHandler('resources/subscribe', async ({ params }) => {
    subscribed.add(params.uri);
    return {};
  });
  server.server.setRequestHandler('resources/unsubscribe', async ({ params }) => {
    subscribed.delete(params.uri);
    return {};
  });
  server.registerTool('test_trigger_resource_update', { description: `Changes ${WATCHED}.` }, async () => {
    await server.server.sendResourceUpdated({ uri: WATCHED });
    return { content: [{ type: 'text', text: subscribed.has(WATCHED) ? 'watched' : 'not watched' }] };
  });
}
