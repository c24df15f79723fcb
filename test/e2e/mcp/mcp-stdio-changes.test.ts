import { join } from 'node:path';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect } from 'vitest';
import { describeWays } from '../../support/project/describe-ways.ts';
import { eventually } from '../../support/project/eventually.ts';
import { projectRoot } from '../../support/project/source-imports.ts';
import { agentFolder } from '../../support/service/agent-folder.ts';
import { fixtureServer } from '../../support/tools/gateway.ts';
import { StatelessClient } from '../../support/tools/stateless-client.ts';
import { verifies } from '../requirements.ts';

const URI = 'test://watched-resource';
const YAML = `
llm: {provider: scripted, model: offline}
mcp: {expose: [tools, resources]}
mcpServers: ${JSON.stringify({ fixtures: fixtureServer('sessions') })}
`;

describeWays('changes over stdin and stdout', (way) => {
  verifies(
    'mcp.gateway-changes',
    'a client of 2026-07-28 hears of a changed resource, and names a hundred of them at most',
    async () => {
      await using folder = await agentFolder(YAML);
      const transport = new StdioClientTransport({
        command: process.execPath,
        args: [
          join(projectRoot, way.script),
          '--mode',
          'mcp',
          '--transport',
          'stdio',
          '--agent',
          'agent.yml',
        ],
        cwd: folder.path,
        stderr: 'ignore',
      });
      await using client = await StatelessClient.over(transport);
      const listed = () => client.sdk.listResources();
      await eventually(listed, ({ resources }) => resources.some(({ uri }) => uri === URI));
      const heard = Promise.withResolvers<string>();
      client.sdk.setNotificationHandler('notifications/resources/updated', ({ params }) =>
        heard.resolve(params.uri),
      );
      await client.sdk.listen({ resourceSubscriptions: [URI] });
      // The server tells of it only to those who have subscribed, and says whether there is one.
      const trigger = () => client.call('test_trigger_resource_update');
      await eventually(trigger, ({ content }) => JSON.stringify(content).includes('"watched"'));
      expect(await heard.promise).toBe(URI);
      const uris = Array.from({ length: 101 }, (_, index) => `test://${index}`);
      await expect(client.sdk.listen({ resourceSubscriptions: uris })).rejects.toThrow('too many resources');
    },
  );
});
