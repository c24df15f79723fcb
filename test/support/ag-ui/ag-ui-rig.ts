import { DirectedModel } from '../models/directed-model.ts';
import { RunningService, type ServiceOptions } from '../service/running-service.ts';
import { DirectedTools } from '../tools/directed-tools.ts';

const AGENT = {
  systemPrompt: 'Be brief.',
  mcpServers: { bank: { type: 'stdio', command: 'none', sampling: { policy: 'ask' } } },
  approval: { rules: [{ tool: 'pay', policy: 'ask' }] },
  server: { drainTimeoutMs: 0 },
  limits: { requestsPerMinute: false },
};

interface RigOptions extends ServiceOptions {
  /** Settings of the agent's model. */
  readonly llm?: object;
}

/** A service whose model and tools the test directs. The tool `pay` needs approval, `look` does not. Their server may ask the model. */
export async function startAgUi({ llm, adapters, ...options }: RigOptions = {}) {
  const model = new DirectedModel();
  const tools = new DirectedTools({ look: {}, pay: {} });
  const yaml = JSON.stringify({ ...AGENT, llm: { provider: 'scripted', model: 'offline', ...llm } });
  const service = await RunningService.start({
    yaml,
    adapters: { model, connector: tools, ...adapters },
    ...options,
  });
  return { model, tools, service, [Symbol.asyncDispose]: () => service.close() };
}
