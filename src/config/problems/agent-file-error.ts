/** One thing that is wrong with an agent file. `line` is absent when the file could not be read at all. */
export interface AgentFileProblem {
  readonly line?: number;
  /** What was found, and what is expected. Holds no secret. */
  readonly text: string;
}

/** Everything that is wrong with an agent file, one problem a line. The message is fit for people. */
export class AgentFileError extends Error {
  readonly path: string;
  readonly problems: readonly AgentFileProblem[];

  constructor(path: string, problems: readonly AgentFileProblem[], cause?: unknown) {
    const sorted = problems.toSorted((one, other) => (one.line ?? 0) - (other.line ?? 0));
    super(sorted.map((problem) => formatProblem(path, problem)).join('\n'), { cause });
    this.name = 'AgentFileError';
    this.path = path;
    this.problems = sorted;
  }
}

function formatProblem(path: string, { line, text }: AgentFileProblem): string {
  return line === undefined ? `${path}: ${text}` : `${path}:${line}: ${text}`;
}
