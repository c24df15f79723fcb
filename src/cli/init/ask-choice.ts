import type { Readable, Writable } from 'node:stream';
import { type CANCEL_SYMBOL, confirm, intro, isCancel, select, text } from '@clack/prompts';
import { LlmConfig } from '../../config/schema/llm-config.ts';
import { providers } from '../../model-http/provider/providers.ts';
import { AT_MOST } from '../check/check-command.ts';
import { type AgentChoice, keyVariableOf, needsAddress } from './agent-template.ts';
import {
  addressProblem,
  type InitOptions,
  modelProblem,
  providerNames,
  variableProblem,
} from './init-command.ts';

/** Where questions are shown and answered; the terminal of the process if left out. */
interface Dialogue {
  readonly input?: Readable;
  readonly output?: Writable;
}

/** Asks a person for what the flags leave open. */
export async function askChoice(options: InitOptions, dialogue: Dialogue = {}): Promise<AgentChoice> {
  const ask = (question: Question): Promise<string> => askText({ ...dialogue, ...question });
  intro(`A new agent: ${options.file}`, dialogue);
  const provider = LlmConfig.shape.provider.parse(options.provider ?? (await askProvider(dialogue)));
  const offline = provider === 'scripted' ? 'offline' : undefined;
  const model = options.model ?? offline ?? (await ask(modelQuestion));
  const baseURL = options.baseUrl ?? (needsAddress(provider) ? await ask(addressQuestion) : undefined);
  const key = keyQuestion(provider);
  const keyVariable = options.keyVariable ?? (key === null ? '' : await ask(key));
  return { provider, model, keyVariable: keyVariable || null, ...(baseURL !== undefined && { baseURL }) };
}

/** Asks whether to check the written file. Cancelling means no. */
export async function offerCheck(file: string): Promise<boolean> {
  const message = `${file} is written. Check it now? It makes ${AT_MOST}.`;
  return (await confirm({ message })) === true;
}

interface Question {
  readonly message: string;
  readonly validate: (text: string | undefined) => string | undefined;
  readonly initialValue?: string;
  readonly placeholder?: string;
}

const modelQuestion: Question = {
  message: 'Which model? (as the provider calls it)',
  validate: modelProblem,
};

const addressQuestion: Question = { message: 'At which address?', validate: addressProblem };

/** Null for a provider that has no key. */
function keyQuestion(provider: AgentChoice['provider']): Question | null {
  const key = keyVariableOf(provider);
  if (key === null) return null;
  const message = 'Which environment variable holds the key?';
  if (key.isRequired) return { message, validate: variableProblem, initialValue: key.name };
  return {
    message: `${message} (leave empty if the server needs none)`,
    validate: (text) => (text ? variableProblem(text) : undefined),
    placeholder: key.name,
  };
}

async function askProvider(dialogue: Dialogue): Promise<string> {
  const options = providerNames.map((value) => ({
    value,
    label: value === 'scripted' ? 'None: a script, offline' : providers[value].label,
  }));
  return given(await select({ message: 'Who runs the model?', options, maxItems: 8, ...dialogue }));
}

/** Resolves to an empty string if the person writes nothing and may do so. */
async function askText(question: Question & Dialogue): Promise<string> {
  return given(await text(question)) ?? '';
}

function given<T>(answer: T | typeof CANCEL_SYMBOL): T {
  if (isCancel(answer)) throw new Error('nothing was written');
  return answer;
}
