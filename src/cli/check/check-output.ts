import { counted } from '../../core/counted.ts';
import type { Check, Finding, RequestFacts } from './check.ts';
import { MAX_REQUESTS, MAX_RESPONSES_REQUESTS } from './check-command.ts';

interface NamedAgent {
  readonly agentFile: string;
  readonly provider: string;
  readonly model: string;
}

/** An agent with a provider to test. */
interface CheckedAgent extends NamedAgent {
  readonly api: string;
  /** The address of the provider without path and query. */
  readonly origin: string;
}

const NAME_WIDTH = 12;
const OUTCOME_WIDTH = 33;
const NUMBER_WIDTHS = [12, 10, 9] as const;

/** Printed before the first request. */
export function heading({ agentFile, provider, model, api, origin }: CheckedAgent): string {
  const most = api === 'responses' ? MAX_RESPONSES_REQUESTS : MAX_REQUESTS;
  return [
    `${agentFile}: ${provider} ${model} at ${origin}, llm.api ${api}`,
    `At most ${most} small requests are made, which the provider may charge for.`,
    '',
    `  ${columns('', '', ['first piece', 'total', 'tokens'])}`,
    '',
  ].join('\n');
}

/** @param unnamed a file that was perhaps meant, because none was named. */
export function scriptedText({ agentFile }: NamedAgent, unnamed: string | undefined): string {
  const text = `${agentFile}: the scripted model runs in the service itself; there is nothing to check.\n`;
  if (unnamed === undefined) return text;
  return `${text}This folder has an ${unnamed}: check it with --agent ${unnamed}\n`;
}

/** A line for the finding, and one for the advice. */
export function describeCheck({ name, finding, outcome, advice, request }: Check): string {
  const line = `${mark(finding)} ${columns(name, outcome, request ? facts(request) : [])}\n`;
  return advice === undefined ? line : `${line}    ${advice}\n`;
}

/** The totals of all requests. @param count of the HTTP requests, of which one result may have needed several. */
export function describeRequests(count: number, made: readonly RequestFacts[]): string {
  const ms = made.reduce((sum, { totalMs }) => sum + totalMs, 0);
  const requests = `${counted(count, 'request')} in ${ms} ms`;
  const tokens = totalTokens(made);
  const used = tokens
    ? `${tokens.inputTokens} tokens in, ${tokens.outputTokens} out`
    : 'the provider reports no tokens';
  return `\n${requests}; ${used}.\n`;
}

export const NO_MORE_REQUESTS = 'The other requests are not made: they would fail for the same reason.\n';

/** The report as JSON. */
export function checkJson(
  agent: NamedAgent | CheckedAgent,
  checks: readonly Check[],
  { requests, made }: { readonly requests: number; readonly made: readonly RequestFacts[] },
): string {
  const works = !checks.some(({ isFailure }) => isFailure);
  const shown = checks.map(({ isFailure = false, ...check }) => ({ ...check, isFailure }));
  const report = { ...agent, works, requests, usage: totalTokens(made), checks: shown };
  return `${JSON.stringify(report)}\n`;
}

/** Null if the provider reported the tokens of no request. */
function totalTokens(
  made: readonly RequestFacts[],
): { readonly inputTokens: number; readonly outputTokens: number } | null {
  const told = made.flatMap(({ usage }) => usage ?? []);
  if (told.length === 0) return null;
  const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
  return {
    inputTokens: sum(told.map(({ inputTokens }) => inputTokens)),
    outputTokens: sum(told.map(({ outputTokens }) => outputTokens)),
  };
}

function columns(name: string, outcome: string, numbers: readonly string[]): string {
  const right = numbers.map((number, index) => number.padStart(NUMBER_WIDTHS[index] ?? 0)).join('');
  return `${name.padEnd(NAME_WIDTH)} ${outcome.padEnd(OUTCOME_WIDTH)}${right}`.trimEnd();
}

function facts({ firstPieceMs, totalMs, usage }: RequestFacts): string[] {
  return [
    firstPieceMs === null ? '–' : `${firstPieceMs} ms`,
    `${totalMs} ms`,
    usage ? `${usage.inputTokens}+${usage.outputTokens}` : '–',
  ];
}

function mark(finding: Finding): string {
  switch (finding) {
    case 'yes':
      return '✓';
    case 'no':
      return '✗';
    case 'unknown':
      return '–';
    default:
      return finding satisfies never;
  }
}
