/** What is another each time; of these only the type is compared. */
const volatile = new Set([
  'timestamp',
  'createdAt',
  'updatedAt',
  'since',
  'time',
  'uptime',
  'version',
  'duration',
  'turnId',
  'resetTime',
  'bytes',
  'file',
  'last',
  'times',
  'values',
]);

/** The number of events in the log; elsewhere `events` is a list, which is compared. */
const isEventCount = (name: string, value: unknown): boolean =>
  name === 'events' && typeof value === 'number';

/**
 * Where an answer is not what its example says. Each element of an example's list must be somewhere in the
 * answer's; an empty list stands for an empty one. @param loose further fields of which only the type counts.
 */
export function differences(
  example: unknown,
  answer: unknown,
  loose: readonly string[] = [],
  path = '',
): string[] {
  if (Array.isArray(example)) return listDifferences(example, answer, loose, path);
  if (isObject(example) && isObject(answer)) {
    const names = new Set([...Object.keys(example), ...Object.keys(answer)]);
    return [...names].flatMap((name) => {
      const at = `${path}.${name}`;
      if (!Object.hasOwn(example, name)) return [`${at} is not in the example`];
      if (!Object.hasOwn(answer, name)) return [`${at} is not in the answer`];
      const isLoose = volatile.has(name) || loose.includes(name) || isEventCount(name, example[name]);
      return isLoose
        ? typeDifferences(example[name], answer[name], at)
        : differences(example[name], answer[name], loose, at);
    });
  }
  return Object.is(example, answer) ? [] : [`${path} is ${shown(answer)}, in the example ${shown(example)}`];
}

function listDifferences(
  example: readonly unknown[],
  answer: unknown,
  loose: readonly string[],
  path: string,
): string[] {
  if (!Array.isArray(answer)) return [`${path} is ${shown(answer)}, in the example a list`];
  if (example.length === 0 && answer.length > 0)
    return [`${path} is ${shown(answer)}, in the example an empty list`];
  return example.flatMap((element, index) => {
    const each = answer.map((candidate) => differences(element, candidate, loose, `${path}[${index}]`));
    const closest = each.sort((a, b) => a.length - b.length)[0];
    return closest ?? [`${path}[${index}] is not in the answer`];
  });
}

function typeDifferences(example: unknown, answer: unknown, path: string): string[] {
  return typeof example === typeof answer ? [] : [`${path} is ${shown(answer)}, not a ${typeof example}`];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function shown(value: unknown): string {
  return (JSON.stringify(value) ?? 'absent').slice(0, 300);
}
