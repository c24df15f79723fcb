import { z } from 'zod';

/** What zod says of an issue in words of its own, as people know it who write JSON. Undefined: as zod has it. */
export function issueWording(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.expected === 'int') return 'must be a whole number';
      return issue.expected === 'record' ? asZodHasIt({ ...issue, expected: 'object' }) : undefined;
    case 'too_small':
      if (isNumber(issue)) return bounded('at least', issue.minimum, issue.inclusive);
      return ['string', 'array'].includes(issue.origin) && issue.minimum === 1
        ? 'must not be empty'
        : undefined;
    case 'too_big':
      return isNumber(issue) ? bounded('at most', issue.maximum, issue.inclusive) : undefined;
    case 'invalid_value':
      return mustBeOneOf(issue.values);
    case 'invalid_union':
      return 'options' in issue && Array.isArray(issue.options) ? mustBeOneOf(issue.options) : undefined;
    default:
      return undefined;
  }
}

function asZodHasIt(issue: z.core.$ZodRawIssue): string | undefined {
  const said = z.config().localeError?.(issue);
  return typeof said === 'string' ? said : said?.message;
}

function isNumber({ origin }: { readonly origin: string }): boolean {
  return origin === 'number' || origin === 'int';
}

function bounded(side: string, bound: number | bigint, inclusive = true): string | undefined {
  return inclusive ? `must be ${side} ${bound}` : undefined;
}

function mustBeOneOf(options: readonly unknown[]): string | undefined {
  const names = options.filter((option) => typeof option === 'string');
  const last = names.pop();
  if (last === undefined) return undefined;
  return `must be ${names.length > 0 ? `${names.join(', ')} or ` : ''}${last}`;
}
