import type { z } from 'zod';
import { counted } from '../../core/counted.ts';
import { redactText } from '../export/redact.ts';

export type Issue = z.core.$ZodIssue;

const typeNames: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'a map',
  record: 'a map',
  array: 'a list',
};
const formatNames: Readonly<Record<string, string>> = {
  url: 'a URL',
  ipv4: 'an IPv4 address',
  ipv6: 'an IPv6 address',
  cidrv4: 'an IPv4 range such as 10.0.0.0/8',
  cidrv6: 'an IPv6 range such as fc00::/7',
};

const MUST_BE = 'must be ';

/** A sentence about the place of an issue: what the schema expects there, or what to do. */
export function describeRule(issue: Issue): string {
  const { code, message } = issue;
  if (code !== 'custom' || message.startsWith(MUST_BE)) return `expected ${describeExpected(issue)}`;
  return redactText(message.startsWith('must ') ? `it ${message}` : message);
}

/** Describes in words what the schema expects at the place of an issue. */
export function describeExpected(issue: Issue): string {
  // Messages written in our schemas begin with "must be".
  if (issue.message.startsWith(MUST_BE)) return redactText(issue.message.slice(MUST_BE.length));
  switch (issue.code) {
    case 'invalid_type':
      return typeNames[issue.expected] ?? issue.expected;
    case 'invalid_value':
      return oneOf(issue.values);
    case 'invalid_union':
      return describeUnion(issue);
    case 'too_small':
      if (issue.origin === 'string' && issue.minimum === 1) return 'a string that is not empty';
      return amount(issue.origin, issue.inclusive === false ? 'more than' : 'at least', issue.minimum);
    case 'too_big':
      return amount(issue.origin, issue.inclusive === false ? 'less than' : 'at most', issue.maximum);
    case 'invalid_format':
      return formatNames[issue.format] ?? `a string of the form ${issue.format}`;
    case 'not_multiple_of':
      return `a multiple of ${issue.divisor}`;
    case 'unrecognized_keys':
    case 'invalid_key':
    case 'invalid_element':
    case 'custom':
      return `something else: ${redactText(issue.message)}`;
    default:
      return issue satisfies never;
  }
}

function describeUnion(issue: Extract<Issue, { code: 'invalid_union' }>): string {
  if ('options' in issue && Array.isArray(issue.options)) return oneOf(issue.options);
  return [...new Set(issue.errors.flatMap((issues) => issues.slice(0, 1).map(describeExpected)))].join(
    ', or ',
  );
}

function oneOf(values: readonly unknown[]): string {
  const texts = values.map((value) => JSON.stringify(value));
  if (texts.length <= 2) return texts.join(' or ');
  return `one of ${values.join(', ')}`;
}

function amount(origin: string, bound: string, limit: number | bigint): string {
  if (origin === 'string') return `text of ${bound} ${counted(limit, 'character')}`;
  if (origin === 'array') return `a list of ${bound} ${counted(limit, 'item')}`;
  return `a number of ${bound} ${limit}`;
}
