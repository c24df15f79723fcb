import { isSecretName } from '../export/redact.ts';
import { mapScalars, type Path, pathKey } from '../problems/path.ts';
import { parseTemplate, type TemplatePart } from './template.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** A reference without a value. `source` is the reference as written in the file. */
export interface FailedReference {
  readonly path: Path;
  readonly source: string;
  readonly text: string;
}

export interface Expansion {
  readonly value: unknown;
  readonly failures: readonly FailedReference[];
  /** By path: the texts that held a reference, as written, and whether the reference was the whole text. */
  readonly expanded: ReadonlyMap<string, { readonly written: string; readonly whole: boolean }>;
}

/** Replaces the references in all texts of the data, but not in keys, by the values of the environment. */
export function expandVariables(raw: unknown, environment: Environment): Expansion {
  const failures: FailedReference[] = [];
  const expanded = new Map<string, { written: string; whole: boolean }>();
  const expandAt = (text: string, path: Path): string => {
    const parts = parseTemplate(text);
    if (parts.some((part) => part.kind === 'variable')) {
      expanded.set(pathKey(path), { written: text, whole: parts.length === 1 });
    }
    return expandParts(parts, environment, (source, problem) =>
      failures.push({ path, source, text: problem }),
    );
  };
  const value = mapScalars(raw, (scalar, path) =>
    typeof scalar === 'string' ? expandAt(scalar, path) : scalar,
  );
  return { value, failures, expanded };
}

function expandParts(
  parts: readonly TemplatePart[],
  environment: Environment,
  fail: (source: string, text: string) => void,
): string {
  const expandPart = (part: TemplatePart): string => {
    switch (part.kind) {
      case 'text':
        return part.source;
      case 'dollar':
        return '$';
      case 'malformed':
        fail(
          part.source,
          `found a broken reference; expected \${NAME}, \${NAME:-default}, or $$ for a dollar sign`,
        );
        return part.source;
      case 'variable': {
        // Every object also has `toString` and the like.
        const value = Object.hasOwn(environment, part.name) ? environment[part.name] : undefined;
        if (part.fallback !== undefined)
          return value || expandParts(parseTemplate(part.fallback), environment, fail);
        if (value !== undefined) return value;
        fail(part.source, `the variable ${part.name} is not set; ${advice(part.name)}`);
        return part.source;
      }
      default:
        return part satisfies never;
    }
  };
  return parts.map(expandPart).join('');
}

/** Suggests no default for a secret, because it would put the secret into the file. */
function advice(name: string): string {
  return isSecretName(name) ? 'expected it in the environment' : `set it, or write \${${name}:-default}`;
}
