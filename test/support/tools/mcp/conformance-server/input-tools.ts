import {
  acceptedContent,
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type McpServer,
  type RequestStateCodec,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { DEFAULTS, ENUMS } from './forms.ts';

type Answer = CallToolResult | InputRequiredResult;
type Asking = (context: ServerContext, states: RequestStateCodec) => Promise<Answer>;

const Name = z.object({ name: z.string() });
const Ok = z.object({ ok: z.boolean() });

/** What the client of a request declares. */
const Envelope = z.object({
  [CLIENT_CAPABILITIES_META_KEY]: z
    .object({ elicitation: z.looseObject({}).optional(), sampling: z.looseObject({}).optional() })
    .default({}),
});

const text = (said: string): CallToolResult => ({ content: [{ type: 'text', text: said }] });

const form = (
  message: string,
  requestedSchema: Parameters<typeof inputRequired.elicit>[0]['requestedSchema'],
) => inputRequired.elicit({ message, requestedSchema });

const sampling = (prompt: string) =>
  inputRequired.createMessage({
    messages: [{ role: 'user', content: { type: 'text', text: prompt } }],
    maxTokens: 100,
  });

/** What a form was answered, in words. */
function answered({ mcpReq }: ServerContext, key: string): string | null {
  const response = inputResponse(mcpReq.inputResponses, key);
  if (response.kind !== 'elicit') return null;
  return `action=${response.action}, content=${JSON.stringify(response.content ?? {})}`;
}

/** Tools that ask their client, each with what the suite expects of it. */
const TOOLS: Readonly<Record<string, Asking>> = {
  test_elicitation_sep1034_defaults: (context) =>
    formTool(context, 'Please review and update the form fields with defaults', DEFAULTS),
  test_elicitation_sep1330_enums: (context) =>
    formTool(context, 'Please select options from the enum fields', ENUMS),
  test_input_required_result_elicitation: askForName,
  test_streaming_elicitation: askForName,
  async test_input_required_result_sampling({ mcpReq }) {
    const response = inputResponse(mcpReq.inputResponses, 'sample_request');
    if (response.kind === 'sampling')
      return text(`Sampling result: ${JSON.stringify(response.result.content)}`);
    return inputRequired({ inputRequests: { sample_request: sampling('What is the capital of France?') } });
  },
  /** The SDK answers with an error where the client declares no sampling. */
  test_missing_capability: async () => inputRequired({ inputRequests: { sample: sampling('Anything') } }),
  async test_input_required_result_list_roots({ mcpReq }) {
    const response = inputResponse(mcpReq.inputResponses, 'roots_request');
    if (response.kind === 'roots') return text(`Found ${response.roots.length} root(s)`);
    return inputRequired({ inputRequests: { roots_request: inputRequired.listRoots() } });
  },
  test_input_required_result_request_state: (context, states) =>
    confirmed(context, states, 'state-ok: requestState validated'),
  test_input_required_result_tampered_state: (context, states) =>
    confirmed(context, states, 'integrity-ok: state verified'),
  async test_input_required_result_multiple_inputs({ mcpReq }, states) {
    const { inputResponses } = mcpReq;
    const kinds = ['user_name', 'greeting', 'client_roots'].map(
      (key) => inputResponse(inputResponses, key).kind,
    );
    if (!kinds.includes('missing')) return text('Multiple inputs completed');
    return inputRequired({
      inputRequests: {
        user_name: form('What is your name?', Name),
        greeting: sampling('Generate a greeting'),
        client_roots: inputRequired.listRoots(),
      },
      requestState: await states.mint({ kind: 'multiple' }),
    });
  },
  async test_input_required_result_multi_round({ mcpReq }, states) {
    const round = z.object({ round: z.number() }).safeParse(mcpReq.requestState()).data?.round ?? 0;
    if (round === 2 && acceptedContent(mcpReq.inputResponses, 'step2')) return text('Multi-round complete');
    if (round === 1 && acceptedContent(mcpReq.inputResponses, 'step1')) {
      const color = form('Step 2: What is your favorite color?', z.object({ color: z.string() }));
      return inputRequired({
        inputRequests: { step2: color },
        requestState: await states.mint({ round: 2 }),
      });
    }
    const name = form('Step 1: What is your name?', Name);
    return inputRequired({ inputRequests: { step1: name }, requestState: await states.mint({ round: 1 }) });
  },
  async test_input_required_result_capabilities({ mcpReq }, states) {
    const { inputResponses, envelope } = mcpReq;
    if (inputResponses) return text(`capabilities-ok: received ${Object.keys(inputResponses).join(',')}`);
    const can = Envelope.parse(envelope ?? {})[CLIENT_CAPABILITIES_META_KEY];
    const value = z.object({ value: z.string() });
    const inputRequests = {
      ...(can.elicitation && { elicit_input: form('Elicitation input', value) }),
      ...(can.sampling && { sample_input: sampling('Sample request') }),
    };
    if (Object.keys(inputRequests).length === 0) return text('No supported capabilities declared');
    return inputRequired({ inputRequests, requestState: await states.mint({ kind: 'capabilities' }) });
  },
};

export function addInputTools(server: McpServer, states: RequestStateCodec): void {
  for (const [name, ask] of Object.entries(TOOLS)) {
    server.registerTool(name, { description: `Asks as ${name} must.` }, (context) => ask(context, states));
  }
  server.registerTool(
    'test_sampling',
    { description: 'Asks the model of its client.', inputSchema: z.object({ prompt: z.string() }) },
    async ({ prompt }, { mcpReq }) => {
      const response = inputResponse(mcpReq.inputResponses, 'sample');
      if (response.kind !== 'sampling') return inputRequired({ inputRequests: { sample: sampling(prompt) } });
      const { content } = response.result;
      const said =
        !Array.isArray(content) && content.type === 'text' ? content.text : JSON.stringify(content);
      return text(`LLM response: ${said}`);
    },
  );
  server.registerTool(
    'test_elicitation',
    { description: 'Asks the user of its client.', inputSchema: z.object({ message: z.string() }) },
    async ({ message }, context) => {
      const said = answered(context, 'form');
      if (said !== null) return text(`User response: ${said}`);
      const fields = z.object({ username: z.string(), email: z.email() });
      return inputRequired({ inputRequests: { form: form(message, fields) } });
    },
  );
}

async function askForName({ mcpReq }: ServerContext): Promise<Answer> {
  const given = acceptedContent(mcpReq.inputResponses, 'user_name', Name);
  if (given) return text(`Hello, ${given.name}!`);
  return inputRequired({ inputRequests: { user_name: form('What is your name?', Name) } });
}

async function formTool(
  context: ServerContext,
  message: string,
  schema: typeof DEFAULTS | typeof ENUMS,
): Promise<Answer> {
  const said = answered(context, 'form');
  if (said !== null) return text(`Elicitation completed: ${said}`);
  return inputRequired({ inputRequests: { form: form(message, schema) } });
}

async function confirmed(
  { mcpReq }: ServerContext,
  states: RequestStateCodec,
  said: string,
): Promise<Answer> {
  const isGiven = acceptedContent(mcpReq.inputResponses, 'confirm', Ok)?.ok === true;
  if (isGiven && mcpReq.requestState() !== undefined) return text(said);
  return inputRequired({
    inputRequests: { confirm: form('Please confirm', Ok) },
    requestState: await states.mint({ kind: 'confirm' }),
  });
}
