/*
 * The client that the conformance suites run: `node conformance-client.ts URL`. It connects with the connector of the
 * service, and follows authorization addresses as a browser would whose user agrees to everything.
 */
import { z } from 'zod';
import { ajvSchemaCheck } from '../../../../src/adapters/ajv/ajv-schema-check.ts';
import { mcpConnector } from '../../../../src/adapters/mcp/mcp-connector.ts';
import { McpAuthorizations } from '../../../../src/adapters/mcp/oauth/mcp-authorizations.ts';
import { memoryEventStore } from '../../../../src/adapters/memory/memory-event-store.ts';
import { memoryKeys } from '../../../../src/adapters/secret-key/key-ring.ts';
import { sealedBox } from '../../../../src/adapters/secret-key/sealed-box.ts';
import { HttpServerConfig } from '../../../../src/core/tool-server/mcp-server-config.ts';
import { CredentialBook } from '../../../../src/runtime/tools/credential-book.ts';
import { redirectOf, responseIn } from './authorization-visit.ts';
import { RecordingLog } from './recording-log.ts';
import { exercise, ToolCall } from './server-use.ts';

const NAME = 'under-test';
/** As often as the service asks, at most. A loop would take more. */
const MAX_VISITS = 5;

const Context = z.looseObject({
  client_id: z.string().optional(),
  client_secret: z.string().optional(),
  issuer: z.string().optional(),
  private_key_pem: z.string().optional(),
  valid_jwt: z.string().optional(),
  idp_client_id: z.string().default(''),
  idp_id_token: z.string().default(''),
  idp_token_endpoint: z.string().default(''),
  toolCalls: z.array(ToolCall).optional(),
});

/** What the agent file of a user would say in this scenario. */
function oauthOf(scenario: string, context: z.infer<typeof Context>): unknown {
  const { client_id: clientId, client_secret: clientSecret, issuer } = context;
  const client = { clientId, clientSecret };
  switch (scenario) {
    case 'auth/basic-cimd':
      return { clientMetadataUrl: 'https://conformance-test.local/client-metadata.json' };
    case 'auth/pre-registration':
      return { ...client, issuer };
    case 'auth/client-credentials-basic':
      return { grant: 'client-credentials', ...client };
    case 'auth/client-credentials-jwt':
      return { grant: 'client-credentials', clientId, privateKey: context.private_key_pem };
    case 'auth/wif-jwt-bearer':
      return { grant: 'jwt-bearer', clientId, jwt: context.valid_jwt };
    case 'auth/cross-app-access-complete-flow':
    case 'auth/enterprise-managed-authorization': {
      const { idp_token_endpoint: tokenUrl, idp_client_id, idp_id_token: idToken } = context;
      const identityProvider = { tokenUrl, clientId: idp_client_id, idToken };
      return { grant: 'identity-assertion', ...client, identityProvider };
    }
    default:
      return undefined;
  }
}

const { MCP_CONFORMANCE_SCENARIO: scenario = '', MCP_CONFORMANCE_CONTEXT: given = '{}' } = process.env;
const context = Context.parse(JSON.parse(given));
const oauth = oauthOf(scenario, context);
// Values that the context has not are left out, as in a file.
const config = HttpServerConfig.parse(
  JSON.parse(JSON.stringify({ type: 'http', baseUrl: process.argv.at(-1), oauth })),
);

const log = new RecordingLog();
const credentials = new CredentialBook(memoryEventStore(), sealedBox(memoryKeys()), log);
const authorizations = new McpAuthorizations({ credentials, log });
authorizations.returnTo('http://127.0.0.1:3001/oauth/callback');
const connector = mcpConnector({
  log,
  schemas: ajvSchemaCheck(log),
  environment: {},
  binFolders: [],
  ownProgram: [process.execPath],
  clientVersion: '1.0.0',
  authorizations,
  answers: { sampling: true, elicitation: true, roots: true },
});

async function visit(url: string): Promise<void> {
  const outcome = await authorizations.finish(responseIn(await redirectOf(url)));
  if (outcome?.problem !== null) throw new Error(outcome?.problem ?? 'the state is unknown');
}

const events = { onClosed: () => undefined, onToolsChanged: () => undefined, onNote: () => undefined };

/** Connects and uses the server, as the service does with a server that is there. */
async function workWithServer(): Promise<void> {
  const connection = await connector.connect(NAME, config, events, new AbortController().signal);
  try {
    const outcomes = await exercise(connection, context.toolCalls);
    // The other suites see for themselves what became of the calls, and some of their servers have no tool.
    if (!scenario.startsWith('auth/')) return;
    const failed = outcomes.find(({ status }) => status === 'failed');
    if (failed?.status === 'failed') throw new Error(failed.reason);
  } finally {
    await connection.close();
  }
}

for (let visits = 0; ; visits += 1) {
  try {
    await workWithServer();
    break;
  } catch (error) {
    const url = authorizations.urlOf(NAME);
    if (url === undefined || visits === MAX_VISITS) throw error;
    await visit(url);
  }
}
