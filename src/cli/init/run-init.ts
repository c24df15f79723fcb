import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { LlmConfig } from '../../config/schema/llm-config.ts';
import { messageOf } from '../../core/errors.ts';
import {
  type AgentChoice,
  agentFileText,
  needsAddress,
  startCommand,
  usualKeyVariable,
} from './agent-template.ts';
import { type InitOptions, providerNames } from './init-command.ts';

export interface WrittenAgent {
  /** What to do next, for people. */
  readonly text: string;
  readonly isToBeChecked: boolean;
}

/** Writes an agent file as the flags say; a person is asked for the rest. */
export async function runInit(options: InitOptions, isTerminal: boolean): Promise<WrittenAgent> {
  const { file, force = false, check = false } = options;
  if (existsSync(file) && !force) throw exists(file);
  const isAsking = isTerminal && !isComplete(options);
  const choice = isAsking ? await ask(options) : choiceOf(options);
  try {
    await writeFile(file, agentFileText(file, choice), { flag: force ? 'w' : 'wx' });
  } catch (error) {
    throw new Error(`${file} cannot be written: ${messageOf(error)}`);
  }
  const isToBeChecked = check || (isAsking && canBeChecked(choice) && (await offer(file)));
  const text = `${file} is written. Start it with:\n\n  ${startCommand(file, choice)}\n`;
  return { text: isToBeChecked ? `${text}\n` : text, isToBeChecked };
}

/** Loads the questions only where somebody can answer them. */
async function ask(options: InitOptions): Promise<AgentChoice> {
  const { askChoice } = await import('./ask-choice.ts');
  return askChoice(options);
}

async function offer(file: string): Promise<boolean> {
  const { offerCheck } = await import('./ask-choice.ts');
  return offerCheck(file);
}

/** Without its key the file would not even load. */
function canBeChecked({ provider, keyVariable }: AgentChoice): boolean {
  return provider !== 'scripted' && (keyVariable === null || Boolean(process.env[keyVariable]));
}

function isComplete({ provider, model }: InitOptions): boolean {
  return provider === 'scripted' || (provider !== undefined && model !== undefined);
}

/** By the flags alone. Throws what is missing. */
export function choiceOf({ provider: name, model, keyVariable, baseUrl }: InitOptions): AgentChoice {
  if (name === undefined)
    throw new Error(`--provider is missing: expected one of ${providerNames.join(', ')}`);
  const provider = LlmConfig.shape.provider.parse(name);
  const modelName = model ?? (provider === 'scripted' ? 'offline' : undefined);
  if (!modelName)
    throw new Error('--model is missing: expected the name of a model, as the provider calls it');
  if (baseUrl === undefined && needsAddress(provider))
    throw new Error(`--base-url is missing: ${provider} has no address of its own`);
  if (!LlmConfig.shape.baseURL.safeParse(baseUrl).success)
    throw new Error(`--base-url: found "${baseUrl}"; expected an address such as http://127.0.0.1:8080/v1`);
  return {
    provider,
    model: modelName,
    keyVariable: keyVariable ?? usualKeyVariable(provider),
    ...(baseUrl !== undefined && { baseURL: baseUrl }),
  };
}

function exists(file: string): Error {
  return new Error(`${file} is there already; name another file, or write over it with --force`);
}
