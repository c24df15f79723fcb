import { existsSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { LlmConfig } from '../../config/schema/llm-config.ts';
import { messageOf } from '../../core/thrown.ts';
import {
  type AgentChoice,
  agentFileText,
  keyVariableOf,
  needsAddress,
  startCommand,
} from './agent-template.ts';
import { type InitOptions, providerNames } from './init-command.ts';

export interface WrittenAgent {
  /** What to do next, for people. */
  readonly text: string;
  readonly shouldCheck: boolean;
}

/** Writes an agent file from the flags. At a terminal, asks for what they leave open. */
export async function runInit(options: InitOptions, isTerminal: boolean): Promise<WrittenAgent> {
  const { file, force = false, check = false } = options;
  // Before anything is asked.
  requireFolder(file);
  if (existsSync(file) && !force) throw exists(file);
  const isAsking = isTerminal && !isComplete(options);
  const choice = isAsking ? await ask(options) : choiceOf(options);
  try {
    await writeFile(file, agentFileText(file, choice), { flag: force ? 'w' : 'wx' });
  } catch (error) {
    throw new Error(`${file} cannot be written: ${messageOf(error)}`);
  }
  const shouldCheck = check || (isAsking && canBeChecked(choice) && (await offer(file)));
  const text = `${file} is written. Start it with:\n\n  ${startCommand(file, choice)}\n`;
  return { text: shouldCheck ? `${text}\n` : text, shouldCheck };
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

/** The file cannot be loaded without its key. */
function canBeChecked({ provider, keyVariable }: AgentChoice): boolean {
  return provider !== 'scripted' && (keyVariable === null || Boolean(process.env[keyVariable]));
}

function isComplete({ provider: name, model, baseUrl }: InitOptions): boolean {
  if (name === undefined || name === 'scripted') return name !== undefined;
  const hasAddress = baseUrl !== undefined || !needsAddress(LlmConfig.shape.provider.parse(name));
  return model !== undefined && hasAddress;
}

/** The choice from the flags alone. Throws if a flag is missing. */
export function choiceOf({ provider: name, model, keyVariable, baseUrl }: InitOptions): AgentChoice {
  if (name === undefined)
    throw new Error(`--provider is missing: expected one of ${providerNames.join(', ')}`);
  const provider = LlmConfig.shape.provider.parse(name);
  const modelName = model ?? (provider === 'scripted' ? 'offline' : undefined);
  if (!modelName)
    throw new Error('--model is missing: expected the name of a model, as the provider calls it');
  if (baseUrl === undefined && needsAddress(provider))
    throw new Error(`--base-url is missing: ${provider} has no address of its own`);
  const key = keyVariableOf(provider);
  return {
    provider,
    model: modelName,
    keyVariable: keyVariable ?? (key?.isRequired ? key.name : null),
    ...(baseUrl !== undefined && { baseURL: baseUrl }),
  };
}

function requireFolder(file: string): void {
  const folder = dirname(file);
  const found = statSync(folder, { throwIfNoEntry: false });
  if (!found)
    throw new Error(`${file}: there is no folder ${folder}; make it first, or name a file elsewhere`);
  if (!found.isDirectory()) throw new Error(`${file}: ${folder} is no folder; name a file elsewhere`);
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory())
    throw new Error(`${file}: this is a folder; expected the name of a file`);
}

function exists(file: string): Error {
  return new Error(`${file} already exists; name another file, or overwrite it with --force`);
}
