import { z } from 'zod';
import { WhenBusy } from '../../core/session/when-busy.ts';
import { DEFAULT_MAX_BYTES } from '../../core/size-limits.ts';
import { MAX_TIMEOUT_MS } from '../../core/timeout-ms.ts';
import { ApprovalConfig } from '../../core/tool-call/approval-policy.ts';
import { ClientToolsConfig } from '../../core/tool-call/client-tool.ts';
import { ElicitationConfig } from '../../core/tool-server/elicitation-config.ts';
import { McpServerConfig, McpServerName } from '../../core/tool-server/mcp-server-config.ts';
import { RootConfig } from '../../core/tool-server/root.ts';
import { AllowedHost } from './allowed-host.ts';
import { checkRuleServers } from './approval-servers.ts';
import { LlmConfig } from './llm-config.ts';
import { HttpUrl, PublicHttpUrl } from './web-url.ts';

const limit = (value: number) => z.union([z.int().min(1), z.literal(false)]).default(value);

/** `false` switches a limit off. */
export const LimitsConfig = z.strictObject({
  /** REST requests per minute and address. */
  requestsPerMinute: limit(100),
  /** WebSocket messages per minute and connection. */
  messagesPerMinute: limit(50),
  /** Size of a message or request without its image, and of the image itself, in bytes. */
  requestBytes: limit(DEFAULT_MAX_BYTES),
  /** Open WebSockets and event streams per address. */
  connectionsPerAddress: limit(10),
  /** Messages that may wait in one session behind the running turn. */
  queuedMessages: limit(100),
});
export type LimitsConfig = z.infer<typeof LimitsConfig>;

export const SessionsConfig = z.strictObject({
  /** For messages without a `whenBusy` of their own. */
  whenBusy: WhenBusy.default('enqueue'),
  /** Sessions whose last event is older are deleted. Without it, sessions stay until a client deletes them. */
  retentionDays: z.int().min(1).max(36_500).optional(),
  /** Most memory that idle sessions take, in megabytes. Those that were not used for longest leave it; the log has them. */
  memoryMb: z.int().min(1).max(1_000_000).default(64),
});

/** What `/mcp` offers: the agent itself, and what its tool servers offer. */
export const McpExposure = z.enum(['agent', 'tools', 'resources', 'prompts']);
export type McpExposure = z.infer<typeof McpExposure>;

const McpConfig = z.strictObject({
  /** `agent`: the agent as tools. `tools`, `resources`, `prompts`: those of its tool servers. */
  expose: z.array(McpExposure).min(1).default(['agent']),
});

const A2aConfig = z.strictObject({
  push: z
    .strictObject({
      /** Whether push notifications may go to private addresses too, and over `http://`. */
      allowPrivateAddresses: z.boolean().default(false),
    })
    .prefault({}),
});

export const HistoryConfig = z.strictObject({
  /** Most tokens of a conversation that the model sees, as a rough estimate. The log keeps everything. */
  maxTokens: z.int().min(1).default(100_000),
});

/** Headers that MCP clients send, with sessions and without. */
const MCP_HEADERS = ['Mcp-Protocol-Version', 'Mcp-Session-Id', 'Mcp-Method', 'Mcp-Name', 'Last-Event-ID'];

/** Headers that A2A clients send with each request. */
const A2A_HEADERS = ['A2A-Version'];

/** `*` is one, too. */
const HeaderName = z.string().regex(/^[\w!#$%&'*+.^`|~-]+$/, 'must be the name of a header');

export const CorsConfig = z.strictObject({
  /** Origins of pages that may use the service, such as `https://app.example.com`. `*` allows every page. */
  origins: z
    .array(
      z.union([
        z.literal('*'),
        z.string().refine(isOrigin, 'must be an origin such as https://app.example.com, or *'),
      ]),
    )
    .default([]),
  methods: z.array(z.string()).default(['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS']),
  headers: z.array(HeaderName).default(['Content-Type', 'Authorization', ...MCP_HEADERS, ...A2A_HEADERS]),
  maxAgeSeconds: z.int().min(0).default(86_400),
});
export type CorsConfig = z.infer<typeof CorsConfig>;

export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;

export const ServerConfig = z.strictObject({
  port: z.int().min(0).max(65_535).optional(),
  host: z.string().min(1).optional(),
  dataDir: z
    .string()
    .regex(/^[^\0]*[^\0\s][^\0]*$/, 'must be a folder, or :memory:')
    .optional(),
  logLevel: z.enum(logLevels).optional(),
  /** The address at which browsers reach the service, such as `https://agent.example.com`. */
  publicUrl: PublicHttpUrl
    // Paths are appended to it.
    .refine((url) => !/[?#]/.test(url), 'must be a URL without ? and #')
    .optional(),
  /** Host names, besides its own address, by which clients may reach the service, such as `agent.example.com`. */
  allowedHosts: z.array(AllowedHost).default([]),
  /** Addresses or CIDR ranges of proxies whose `X-Forwarded-For` is believed; `true` believes everybody. */
  trustProxy: z
    .union([z.boolean(), z.array(z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()]))])
    .default(false),
  /** How long running turns may take to finish when the service is told to stop, in milliseconds. */
  drainTimeoutMs: z.int().min(0).max(MAX_TIMEOUT_MS).default(10_000),
});
export type ServerConfig = z.infer<typeof ServerConfig>;

export const TelemetryConfig = z.strictObject({
  /** Root URL of the OpenTelemetry collector, such as `http://127.0.0.1:4318`. Without it there are no spans. */
  otlpEndpoint: HttpUrl.optional(),
});

const oneLine = (maxLength: number) =>
  z
    .string()
    .refine(
      (text) => /^[^\p{Cc}]*[^\p{Cc}\s][^\p{Cc}]*$/u.test(text) && text.length <= maxLength,
      `must be one line of 1 to ${maxLength} characters`,
    );

/** The version of the agent file's format. */
const VERSION = '1.0';
const WRONG_VERSION = `must be "${VERSION}", the only version of the agent file that this release reads`;

const AgentFields = z.strictObject({
  version: z
    .string(WRONG_VERSION)
    .refine((version) => version === VERSION, WRONG_VERSION)
    .default(VERSION),
  /** What users and other agents call this agent. */
  name: oneLine(80).default('agent-service'),
  description: oneLine(500).optional(),
  /** Messages with which a conversation may begin. The console offers them. */
  suggestions: z
    .array(oneLine(200))
    .max(6)
    .default(['Hello!', 'What can you do?', 'Which tools do you have?']),
  systemPrompt: z.string().default('You are a helpful assistant.'),
  llm: LlmConfig,
  mcpServers: z.record(McpServerName, McpServerConfig).default({}),
  approval: ApprovalConfig.prefault({}),
  clientTools: ClientToolsConfig.prefault({}),
  mcp: McpConfig.prefault({}),
  a2a: A2aConfig.prefault({}),
  elicitation: ElicitationConfig.prefault({}),
  /** Where tool servers may work, as they are told. */
  roots: z.array(RootConfig).default([]),
  sessions: SessionsConfig.prefault({}),
  history: HistoryConfig.prefault({}),
  limits: LimitsConfig.prefault({}),
  cors: CorsConfig.prefault({}),
  server: ServerConfig.prefault({}),
  telemetry: TelemetryConfig.prefault({}),
});

/** The agent file. */
export const AgentConfig = AgentFields.superRefine(checkRuleServers, { when: () => true });
export type AgentConfig = z.infer<typeof AgentConfig>;

function isOrigin(text: string): boolean {
  return URL.canParse(text) && new URL(text).origin === text;
}
