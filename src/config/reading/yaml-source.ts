import { type Document, isScalar, LineCounter, parseDocument, Scalar, visit, type YAMLError } from 'yaml';
import { isJsonObject } from '../../core/json-object.ts';
import { redactText } from '../export/redact.ts';
import { AgentFileError, type AgentFileProblem } from '../problems/agent-file-error.ts';
import type { Path } from '../problems/path.ts';
import { nodeAt } from '../problems/yaml-node-at.ts';
import { findPastedServers } from './pasted-servers.ts';

/** The data of a YAML file, and the line of each value. */
export interface YamlSource {
  /** As written: references to variables are not expanded. */
  readonly raw: Record<string, unknown>;
  /** The line of the value at a path; if there is none, of the nearest value around it. */
  lineOf(path: Path): number;
  /** The line of a piece of the text at a path. */
  lineOfText(path: Path, text: string): number;
  /** Whether the text at a path has no quotes in the file, so that YAML could read it as a number. */
  isPlain(path: Path): boolean;
}

/** Enough for ordinary use of anchors, too few for a file that would explode in memory. */
const MAX_ALIASES = 100;

const dialect = {
  version: '1.2',
  schema: 'core',
  strict: true,
  uniqueKeys: true,
  stringKeys: true,
  merge: false,
  resolveKnownTags: false,
  // The pretty form quotes the line, which may hold a secret.
  prettyErrors: false,
} as const;

/** YAML is not indented by tabs, but JSON that is pasted into it often is. */
const TABS_BEFORE_JSON = /^\t+(?=["{}[\]])/gm;

/**
 * Reads one YAML 1.2 document, which must be a map. Refuses duplicate keys and custom tags.
 *
 * @param expected the map that such a file holds, for the error that there is none.
 */
export function parseYamlSource(written: string, path: string, expected: string): YamlSource {
  const text = written.replaceAll(TABS_BEFORE_JSON, (tabs) => ' '.repeat(tabs.length));
  const lines = new LineCounter();
  const lineAt = (offset: number) => lines.linePos(offset).line;
  const document = parseDocument(text, { ...dialect, lineCounter: lines });
  const problems = [...document.errors, ...document.warnings].map((error) => ({
    line: lineAt(error.pos[0]),
    text: describeError(error, text),
  }));
  if (problems.length > 0) throw new AgentFileError(path, problems);
  const lost = lostKeyAt(document);
  if (lost !== null) throw new AgentFileError(path, [{ line: lineAt(lost), text: LOST_KEY }]);
  findPastedServers(document);
  const astray = strayAlias(document);
  if (astray) throw new AgentFileError(path, [{ line: lineAt(astray.offset), text: astray.text }]);
  const raw = toData(document, path);
  if (!isJsonObject(raw)) throw new AgentFileError(path, [notAMap(raw, expected)]);
  return {
    raw,
    lineOf: (at) => lineAt(nodeAt(document, at).offset),
    lineOfText: (at, piece) => {
      const { node, offset } = nodeAt(document, at);
      const [start, end] = node?.range ?? [offset, offset];
      const found = text.indexOf(piece, start);
      return lineAt(found !== -1 && found < end ? found : offset);
    },
    isPlain: (at) => {
      const { node } = nodeAt(document, at);
      return isScalar(node) && node.type === Scalar.PLAIN;
    },
  };
}

/** What reads the data afterwards leaves out such a key, and with it a whole tool server. */
const LOST_KEY = 'a key that is called __proto__; expected another name';

function lostKeyAt(document: Document): number | null {
  let found: number | null = null;
  visit(document, {
    Pair: (_key, { key }) => {
      if (isScalar(key) && key.value === '__proto__') found ??= key.range?.[0] ?? 0;
    },
  });
  return found;
}

const REFERENCE_IN_FLOW =
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the text shows a reference
  'not valid YAML: within {…} and […], a reference ${…} must be in quotes; if it is a number, true or false, write it without quotes, on a line of its own';

function describeError(error: YAMLError, text: string): string {
  if (text.slice(error.pos[0] - 1, error.pos[0] + 1) === '${') return REFERENCE_IN_FLOW;
  switch (error.code) {
    case 'MULTIPLE_DOCS':
      return 'a second document begins here; expected one document in the file';
    case 'DUPLICATE_KEY':
      return `the key ${redactText(/^[^\s:]*/.exec(text.slice(error.pos[0]))?.[0] ?? '')} is repeated here; expected once`;
    case 'NON_STRING_KEY':
      return 'a key that is a list, a map or an alias; expected plain text';
    case 'UNEXPECTED_TOKEN':
      // This message may quote the token.
      return `not valid YAML: ${error.message.replace(/: ".*/s, '')}`;
    default:
      return `not valid YAML: ${redactText(error.message)}`;
  }
}

interface StrayAlias {
  readonly offset: number;
  readonly text: string;
}

/** The first alias that has no value: there is no such anchor, or the value would contain itself. */
function strayAlias(document: Document): StrayAlias | undefined {
  let found: StrayAlias | undefined;
  visit(document, {
    Alias: (_key, alias, ancestors) => {
      const target = alias.resolve(document);
      const offset = alias.range?.[0] ?? 0;
      const name = redactText(alias.source);
      if (!target)
        found ??= { offset, text: `the alias *${name} has no anchor; expected &${name} before it` };
      else if (ancestors.includes(target))
        found ??= { offset, text: 'an alias refers to a value that contains it' };
    },
  });
  return found;
}

function toData(document: Document, path: string): unknown {
  try {
    return document.toJS({ maxAliasCount: MAX_ALIASES });
  } catch (error) {
    // Thrown for too many aliases.
    if (error instanceof ReferenceError) throw new AgentFileError(path, [{ text: error.message }], error);
    throw error;
  }
}

function notAMap(raw: unknown, expected: string): AgentFileProblem {
  if (raw === null) return { text: `the file is empty; expected ${expected}` };
  return { line: 1, text: `${Array.isArray(raw) ? 'a list' : 'a single value'}; expected ${expected}` };
}
