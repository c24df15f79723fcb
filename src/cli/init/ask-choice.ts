import { type CANCEL_SYMBOL, confirm, intro, isCancel, select, text } from '@clack/prompts';
import { LlmConfig } from '../../config/schema/llm-config.ts';
import { providers } from '../../model-http/provider/providers.ts';
import { MOST_REQUESTS } from '../check/check-command.ts';
import { type AgentChoice, needsAddress, usualKeyVariable } from './agent-template.ts';
import { type InitOptions, providerNames, variableProblem } from './init-command.ts';

/** Asks a person for what the flags leave open. */
export async function askChoice(options: InitOptions): Promise<AgentChoice> {
  intro(`A new agent: ${options.file}`);
  const provider = LlmConfig.shape.provider.parse(options.provider ?? (await askProvider()));
  const offline = provider === 'scripted' ? 'offline' : undefined;
  const model =
    options.model ??
    offline ??
    (await ask('Which model? (as the provider calls it)', (given) =>
      given?.trim() ? undefined : 'It needs a name.',
    ));
  const baseURL =
    options.baseUrl ?? (needsAddress(provider) ? await ask('At which address?', addressProblem) : undefined);
  const usual = usualKeyVariable(provider);
  const keyVariable =
    options.keyVariable ??
    (usual === null ? null : await ask('Which environment variable holds the key?', variableProblem, usual));
  return { provider, model, keyVariable, ...(baseURL !== undefined && { baseURL }) };
}

/** Asks whether to check the written file. Cancelling means no. */
export async function offerCheck(file: string): Promise<boolean> {
  const message = `${file} is written. Check it now? It makes at most ${MOST_REQUESTS} small requests.`;
  return (await confirm({ message })) === true;
}

async function askProvider(): Promise<string> {
  const options = providerNames.map((value) => ({
    value,
    label: value === 'scripted' ? 'None: a script, offline' : providers[value].label,
  }));
  return given(await select({ message: 'Who runs the model?', options, maxItems: 8 }));
}

async function ask(
  message: string,
  validate: (text: string | undefined) => string | undefined,
  initialValue = '',
): Promise<string> {
  return given(await text({ message, validate, initialValue }));
}

function addressProblem(text: string | undefined): string | undefined {
  const { success } = LlmConfig.shape.baseURL.safeParse(text);
  return success && text ? undefined : 'Expected an address such as http://127.0.0.1:8080/v1.';
}

function given<T>(answer: T | typeof CANCEL_SYMBOL): T {
  if (isCancel(answer)) throw new Error('nothing was written');
  return answer;
}
