import { existsSync } from 'node:fs';
import { realModel } from '../../app/adapters/real-model.ts';
import { readAgent } from '../../app/agents/read-agent.ts';
import type { Environment } from '../../config/reading/expand.ts';
import type { AgentConfig } from '../../config/schema/agent-config.ts';
import { originOf } from '../../model-http/failures/model-failure.ts';
import { providerEndpoint } from '../../model-http/provider/provider-endpoint.ts';
import { defaultAgentFile, INIT_FILE } from '../agent-argument.ts';
import { Asker } from './asker.ts';
import type { Check } from './check.ts';
import type { CheckOptions } from './check-command.ts';
import {
  checkJson,
  describeCheck,
  describeRequests,
  heading,
  NO_MORE_REQUESTS,
  scriptedText,
} from './check-output.ts';
import { ModelCheck } from './model-check.ts';

export interface CheckContext {
  readonly environment: Environment;
  /** Aborts the running request and the check. */
  readonly signal: AbortSignal;
  print(text: string): void;
}

const SYSTEM_PROMPT = 'This is a test of the connection. Do what the user says, and nothing else.';

/** Tests the model of an agent file and prints what it can do. @returns the exit code. */
export async function checkAgent(options: CheckOptions, context: CheckContext): Promise<number> {
  const { agentFile, json } = options;
  const { config } = readAgent(agentFile, context.environment);
  const { provider, model } = config.llm;
  if (provider !== 'scripted') return checkModel(options, config, context);
  const agent = { agentFile, provider, model };
  context.print(
    json ? checkJson(agent, [], { requests: 0, made: [] }) : scriptedText(agent, unnamedAgent(agentFile)),
  );
  return 0;
}

/** The file that `init` writes, if it is here and the agent of the package was checked in its place. */
function unnamedAgent(checked: string): string | undefined {
  return checked === defaultAgentFile() && existsSync(INIT_FILE) ? INIT_FILE : undefined;
}

async function checkModel(
  { agentFile, json }: CheckOptions,
  { llm, systemPrompt }: AgentConfig,
  { environment, signal, print }: CheckContext,
): Promise<number> {
  let requests = 0;
  const onRequest = (): void => {
    requests += 1;
  };
  // A retry would exceed the announced number of requests.
  const model = realModel({ ...llm, maxRetries: 0 }, environment, { onRequest });
  const access = providerEndpoint(llm, environment);
  const { provider, api } = access;
  const agent = { agentFile, provider, model: llm.model, api, origin: originOf(access) };
  const asker = new Asker({
    model,
    // Some models refuse a system prompt, so an agent without one is tested without one.
    systemPrompt: systemPrompt === '' ? '' : SYSTEM_PROMPT,
    stepTimeoutMs: llm.stepTimeoutMs,
    signal,
  });
  const tell = json ? () => undefined : print;
  const checks: Check[] = [];
  tell(heading(agent));
  // The time to load the code is not part of the measurement.
  await model.warmUp?.();
  const modelCheck = new ModelCheck({
    asker,
    llm,
    hasKey: access.apiKey !== undefined,
    source: model.source,
  });
  for await (const found of modelCheck.run()) {
    checks.push(found);
    tell(describeCheck(found));
  }
  tell(describeRequests(requests, asker.made));
  if (modelCheck.endedAtOnce) tell(NO_MORE_REQUESTS);
  if (json) print(checkJson(agent, checks, { requests, made: asker.made }));
  return checks.some(({ isFailure }) => isFailure) ? 1 : 0;
}
