import { readFileSync } from 'node:fs';
import type { z } from 'zod';
import { redactText } from '../export/redact.ts';
import { AgentFileError, type AgentFileProblem } from '../problems/agent-file-error.ts';
import { explainIssue } from '../problems/explain-issue.ts';
import { formatPath, type Path, pathKey } from '../problems/path.ts';
import { AgentConfig } from '../schema/agent-config.ts';
import { type Environment, type Expansion, expandVariables } from './expand.ts';
import { readFailure } from './read-failure.ts';
import { readScalars } from './read-scalars.ts';
import { parseYamlSource, type YamlSource } from './yaml-source.ts';

export interface LoadedAgent {
  readonly path: string;
  /** Variables expanded, defaults filled in. Holds secrets. */
  readonly config: AgentConfig;
  /** The data as written in the file, for the export. */
  readonly raw: Readonly<Record<string, unknown>>;
}

/** Reads an agent file. Throws one `AgentFileError` with all problems of the file. */
export function loadAgentFile(path: string, environment: Environment): LoadedAgent {
  return parseAgentFile(readText(path), path, environment);
}

/** Parses the text of an agent file. @param path the name of the file in errors. */
export function parseAgentFile(text: string, path: string, environment: Environment): LoadedAgent {
  const source = parseYamlSource(text, path);
  const expansion = expandVariables(source.raw, environment);
  const data = readScalars(AgentConfig, expansion, source);
  const result = AgentConfig.safeParse(data);
  if (result.success && expansion.failures.length === 0)
    return { path, config: result.data, raw: source.raw };
  const issues = result.error?.issues ?? [];
  throw new AgentFileError(path, [
    ...explainFailures(expansion, source),
    ...explainIssues(issues, data, expansion, source),
  ]);
}

function readText(path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path));
  } catch (error) {
    throw new AgentFileError(path, [{ text: readFailure(error, 'a YAML agent file') }], error);
  }
}

function explainFailures({ failures }: Expansion, source: YamlSource): AgentFileProblem[] {
  return failures.map(({ path, source: reference, text }) => ({
    line: source.lineOfText(path, reference),
    text: `${redactText(formatPath(path))}: ${text}`,
  }));
}

function explainIssues(
  issues: readonly z.core.$ZodIssue[],
  data: unknown,
  { failures, expanded }: Expansion,
  source: YamlSource,
): AgentFileProblem[] {
  const writtenAt = (path: Path) => expanded.get(pathKey(path))?.written;
  const failed = new Set(failures.map(({ path }) => pathKey(path)));
  return issues
    .flatMap((issue) =>
      // A variable that is not set has no value to explain, but its key may be unknown.
      explainIssue(issue, { schema: AgentConfig, data, writtenAt }).filter(
        ({ path }) => issue.code === 'unrecognized_keys' || !failed.has(pathKey(path)),
      ),
    )
    .map(({ path, text }) => ({
      line: source.lineOf(path),
      text: `${path.length === 0 ? '' : `${redactText(formatPath(path))}: `}${text}`,
    }));
}
