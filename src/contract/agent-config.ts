import { z } from 'zod';

/** Providers of real models. All speak OpenAI's chat completions; some have an interface of their own besides. */
export const modelProviders = [
  'openai',
  'openai-compatible',
  'anthropic',
  'google',
  'groq',
  'mistral',
  'openrouter',
  'ollama',
  'deepseek',
  'together',
  'fireworks',
  'xai',
  'cerebras',
  'lmstudio',
  'vllm',
] as const;
export type ModelProvider = (typeof modelProviders)[number];

/**
 * Interfaces of model providers: OpenAI's chat completions, OpenAI's Responses API, Anthropic's Messages API.
 */
export const modelApis = ['chat', 'responses', 'messages'] as const;
export type ModelApi = (typeof modelApis)[number];

const timeoutMs = z.int().min(1).max(2_147_483_647);

export const StdioServerConfig = z.strictObject({
  type: z.literal('stdio'),
  command: z.string().min(1),
  args: z.array(z.string()).optional(),
  /** Added to a small allow-list of the service's own environment; nothing else reaches the process. */
  env: z.record(z.string(), z.string()).optional(),
  cwd: z.string().min(1).optional(),
  /** Longest wait for the handshake or for one tool call, in milliseconds. */
  timeout: timeoutMs.optional(),
  description: z.string().optional(),
});

export const HttpServerConfig = z.strictObject({
  type: z.literal('http'),
  baseUrl: z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' }),
  headers: z.record(z.string(), z.string()).optional(),
  timeout: timeoutMs.optional(),
  description: z.string().optional(),
});

export const McpServerConfig = z.discriminatedUnion('type', [StdioServerConfig, HttpServerConfig]);
export type McpServerConfig = z.infer<typeof McpServerConfig>;

/** Used in paths and logs, so without slashes and spaces at its ends. */
export const McpServerName = z
  .string()
  .regex(
    /^[^\s/\\?#%\p{Cc}](?:[^/\\?#%\p{Cc}]{0,126}[^\s/\\?#%\p{Cc}])?$/u,
    'must be 1 to 128 characters without / \\ ? # %, line breaks and other control characters, and no space at its ends',
  );

/** One rule of the scripted model. The first whose `when` matches the user's message answers. */
export const ScriptRule = z.strictObject({
  /** A regular expression, case-insensitive; `$1` … in `reply`, `afterTools` and `arguments` are its groups. */
  when: z.string().refine(isRegExp, 'must be a valid regular expression'),
  reply: z.string().default(''),
  toolCalls: z
    .array(
      z.strictObject({ tool: z.string().min(1), arguments: z.record(z.string(), z.unknown()).default({}) }),
    )
    .default([]),
  /** Said once the tools have answered; `{{results}}` is what they said. */
  afterTools: z.string().default('{{results}}'),
  /** Number of pieces the reply is streamed in; one a word when left out. */
  chunks: z.int().min(1).optional(),
  /** Wait before each piece, in milliseconds. */
  delayMs: z.int().min(0).default(0),
  /** Asks for the same tools again after each result, without end: for trying the step limit. */
  repeat: z.boolean().default(false),
  /** Fails with this reason after the reply was streamed. */
  fail: z.string().optional(),
});
export type ScriptRule = z.infer<typeof ScriptRule>;

const LlmFields = z.strictObject({
  provider: z.enum([...modelProviders, 'scripted']),
  model: z.string().min(1),
  apiKey: z.string().optional(),
  baseURL: z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' }).optional(),
  /** Which interface of the provider is used. See `modelApiOf` for what is used when left out. */
  api: z.enum(modelApis).optional(),
  temperature: z.number().min(0).max(2).optional(),
  topP: z.number().min(0).max(1).optional(),
  /** Most tokens of one reply, reasoning included. The provider decides when left out. */
  maxTokens: z.int().min(1).optional(),
  /** How much the model thinks before it answers. Each provider takes some of these. */
  reasoningEffort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']).optional(),
  /** Texts that end a reply where the model writes them. */
  stop: z.array(z.string().min(1)).min(1).optional(),
  /** The same seed makes the same reply likelier. */
  seed: z.int().optional(),
  /** Whether the model may ask for several tools at once. */
  parallelToolCalls: z.boolean().optional(),
  /** Fields of the provider's own, merged into each request last. `null` takes a field away. */
  extraBody: z.record(z.string(), z.unknown()).optional(),
  /** Whether what the model thinks aloud is kept in the log. What the provider wants back is kept in any case. */
  keepReasoning: z.boolean().default(false),
  /** Most model calls in one turn. */
  maxSteps: z.int().min(1).max(1000).default(25),
  /** Attempts after the first one when the provider is overloaded or unreachable, while nothing of the reply was heard. */
  maxRetries: z.int().min(0).max(10).default(2),
  /** Longest wait for the first piece of a reply, in milliseconds: a model may think for minutes before it. */
  firstByteTimeoutMs: timeoutMs.default(300_000),
  /** Longest silence between two pieces of a reply, in milliseconds. */
  timeoutMs: timeoutMs.default(60_000),
  /** Longest time for one whole model call, in milliseconds. */
  stepTimeoutMs: timeoutMs.default(600_000),
  /** Rules of the scripted model, tried before its own. */
  script: z.array(ScriptRule).default([]),
});
export type LlmConfig = z.infer<typeof LlmFields>;

/**
 * The interface that is used: OpenAI and Anthropic have one of their own. A `baseURL` means another server, and few of
 * those speak anything but chat completions.
 */
export function modelApiOf({
  provider,
  api,
  baseURL,
}: Pick<LlmConfig, 'provider' | 'api' | 'baseURL'>): ModelApi {
  if (api !== undefined) return api;
  if (baseURL !== undefined) return 'chat';
  if (provider === 'anthropic') return 'messages';
  return provider === 'openai' ? 'responses' : 'chat';
}

/** Settings that an interface has no field for. */
const missingSettings: Readonly<Record<ModelApi, readonly (keyof LlmConfig)[]>> = {
  chat: [],
  responses: ['stop', 'seed'],
  messages: ['seed'],
};

export const LlmConfig = LlmFields.superRefine((llm, context) => {
  const api = modelApiOf(llm);
  if (llm.provider === 'scripted') return;
  for (const key of missingSettings[api]) {
    if (llm[key] === undefined) continue;
    const message = `the API in use (llm.api: ${api}) has no such field; remove it, or set llm.api: chat`;
    context.addIssue({ code: 'custom', path: [key], message });
  }
});

const limit = (value: number) => z.union([z.int().min(1), z.literal(false)]).default(value);

/** Each of them is switched off with `false`. */
export const LimitsConfig = z.strictObject({
  /** REST requests a minute and address. */
  requestsPerMinute: limit(100),
  /** WebSocket messages a minute and connection. */
  messagesPerMinute: limit(50),
  /** Bytes of one request, and of an image. */
  requestBytes: limit(10 * 1024 * 1024),
  /** Open WebSockets and event streams, an address. */
  connectionsPerAddress: limit(10),
  /** Messages that may wait in one session behind the running turn. */
  queuedMessages: limit(100),
});
export type LimitsConfig = z.infer<typeof LimitsConfig>;

export const WhenBusy = z
  .enum(['enqueue', 'reject', 'interrupt'])
  .describe(
    'What to do with a message to a busy session: let it wait, refuse it, or cancel the running turn for it.',
  );
export type WhenBusy = z.infer<typeof WhenBusy>;

export const SessionsConfig = z.strictObject({
  /** For messages that do not say. */
  whenBusy: WhenBusy.default('enqueue'),
});

const glob = z.string().min(1).default('*');

/** `auto` runs a call at once, `ask` when somebody has approved it, `deny` never: the model is not even offered the tool. */
export const ApprovalPolicy = z.enum(['auto', 'ask', 'deny']);
export type ApprovalPolicy = z.infer<typeof ApprovalPolicy>;

/** What the model may do by itself. `*` in a pattern stands for any characters, `?` for one. */
export const ApprovalConfig = z.strictObject({
  /** The first rule that matches decides. */
  rules: z.array(z.strictObject({ server: glob, tool: glob, policy: ApprovalPolicy })).default([]),
  /** For tools that no rule matches. */
  default: ApprovalPolicy.default('auto'),
});
export type ApprovalConfig = z.infer<typeof ApprovalConfig>;

export const HistoryConfig = z.strictObject({
  /** Most tokens of a conversation that are shown to the model, by a cheap estimate. The log keeps everything. */
  maxTokens: z.int().min(1).default(100_000),
});

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
  headers: z.array(z.string()).default(['Content-Type', 'Authorization']),
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
  /** Names by which clients may address the service besides its own address, such as `agent.example.com`. */
  allowedHosts: z.array(z.string().min(1)).default([]),
  /** Addresses or CIDR ranges of proxies whose `X-Forwarded-For` is believed; `true` believes everybody. */
  trustProxy: z
    .union([z.boolean(), z.array(z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()]))])
    .default(false),
  /** How long running turns may take to finish when the service is told to stop, in milliseconds. */
  drainTimeoutMs: z.int().min(0).default(10_000),
});
export type ServerConfig = z.infer<typeof ServerConfig>;

export const TelemetryConfig = z.strictObject({
  /** Root of an OpenTelemetry collector that spans are sent to, such as `http://127.0.0.1:4318`. None are made without one. */
  otlpEndpoint: z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' }).optional(),
});

/** The agent file. */
export const AgentConfig = z.strictObject({
  version: z.string().default('1.0'),
  systemPrompt: z.string().default('You are a helpful assistant.'),
  llm: LlmConfig,
  mcpServers: z.record(McpServerName, McpServerConfig).default({}),
  approval: ApprovalConfig.prefault({}),
  sessions: SessionsConfig.prefault({}),
  history: HistoryConfig.prefault({}),
  limits: LimitsConfig.prefault({}),
  cors: CorsConfig.prefault({}),
  server: ServerConfig.prefault({}),
  telemetry: TelemetryConfig.prefault({}),
});
export type AgentConfig = z.infer<typeof AgentConfig>;

function isRegExp(source: string): boolean {
  try {
    new RegExp(source, 'iu');
    return true;
  } catch {
    return false;
  }
}

function isOrigin(text: string): boolean {
  return URL.canParse(text) && new URL(text).origin === text;
}
