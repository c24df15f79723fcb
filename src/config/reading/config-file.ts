import { readFileSync } from 'node:fs';
import type { z } from 'zod';
import { redactText } from '../export/redact.ts';
import { AgentFileError, type AgentFileProblem } from '../problems/agent-file-error.ts';
import { type Explanation, explainIssue } from '../problems/explain-issue.ts';
import { formatPath, type Path, pathKey } from '../problems/path.ts';
import { type Environment, type Expansion, expandVariables } from './expand.ts';
import { readFailure } from './read-failure.ts';
import { readScalars } from './read-scalars.ts';
import { parseYamlSource, type YamlSource } from './yaml-source.ts';

export interface FileKind<S extends z.ZodType> {
  readonly schema: S;
  /** What the file holds, such as `a map with the key llm`, for the error that it holds no map. */
  readonly content: string;
  readonly environment: Environment;
  /** Finds problems that the schema cannot know of. @param data the variables expanded, perhaps not valid. */
  readonly check?: (data: unknown) => readonly Explanation[];
}

export interface ConfigFile<S extends z.ZodType> {
  /** Variables expanded, defaults filled in. Holds secrets. */
  readonly config: z.infer<S>;
  /** The data as written in the file. */
  readonly raw: Readonly<Record<string, unknown>>;
}

/** Reads a file of the configuration. @param kind.what the file is, for the error that it cannot be read. */
export function readConfigFile<S extends z.ZodType>(
  kind: FileKind<S> & { readonly what: string },
  path: string,
): ConfigFile<S> {
  return parseConfigFile(kind, readConfigText(path, kind.what), path);
}

/** Throws one `AgentFileError` with all problems of the text. @param path the name of the file in errors. */
export function parseConfigFile<S extends z.ZodType>(
  { schema, content, environment, check }: FileKind<S>,
  text: string,
  path: string,
): ConfigFile<S> {
  const source = parseYamlSource(text, path, content);
  const expansion = expandVariables(source.raw, environment);
  const data = readScalars(schema, expansion, source);
  const result = schema.safeParse(data);
  const failed = new Set(expansion.failures.map((failure) => pathKey(failure.path)));
  const found = (check?.(data) ?? []).filter((explanation) => !failed.has(pathKey(explanation.path)));
  if (result.success && failed.size + found.length === 0) return { config: result.data, raw: source.raw };
  const issues = result.error?.issues ?? [];
  const explained = [...explainIssues(issues, { schema, data }, { failed, ...expansion }), ...found];
  throw new AgentFileError(path, [
    ...explainFailures(expansion, source),
    ...explained.map((explanation) => located(explanation, source)),
  ]);
}

/** @param what the file is, such as `a YAML agent file`. */
export function readConfigText(path: string, what: string): string {
  try {
    // With a byte order mark, if there is one: the version of an agent is the hash of the whole file.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(path));
  } catch (error) {
    throw new AgentFileError(path, [{ text: readFailure(error, what) }], error);
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
  { schema, data }: { readonly schema: z.ZodType; readonly data: unknown },
  { failed, expanded }: Pick<Expansion, 'expanded'> & { readonly failed: ReadonlySet<string> },
): Explanation[] {
  const writtenAt = (path: Path) => expanded.get(pathKey(path))?.written;
  return issues.flatMap((issue) =>
    // A variable that is not set has no value to explain, but its key may be unknown.
    explainIssue(issue, { schema, data, writtenAt }).filter(
      ({ path }) => issue.code === 'unrecognized_keys' || !failed.has(pathKey(path)),
    ),
  );
}

function located({ path, text }: Explanation, source: YamlSource): AgentFileProblem {
  const place = path.length === 0 ? '' : `${redactText(formatPath(path))}: `;
  return { line: source.lineOf(path), text: `${place}${text}` };
}
