import { canonicalJson } from '../../../core/content-hash.ts';
import { isJson, parsedJson } from '../../../model-http/reply/json.ts';

/** A tool call as far as its fragments have come. */
export interface PartialCall {
  id: string;
  name: string;
  arguments: string;
  extraContent: unknown;
}

/**
 * Each call once. Some servers send a call again, whole or in part, under its id. A tool would run twice.
 * https://github.com/mudler/LocalAI/issues/9722, https://github.com/QuantumNous/new-api/issues/6278,
 * https://github.com/BerriAI/litellm/issues/20480
 */
export function withoutRepeats<Call extends PartialCall>(calls: readonly Call[]): Call[] {
  const kept: Call[] = [];
  for (const call of calls) {
    call.arguments = oneCopy(call.arguments);
    const first = call.id === '' ? undefined : kept.find((other) => isSameCall(other, call));
    if (first) complete(first, call);
    else kept.push(call);
  }
  return kept;
}

/** Calls with the same id and different arguments are different: some servers give parallel calls one id. */
function isSameCall(one: PartialCall, other: PartialCall): boolean {
  if (one.id !== other.id || !isSameOrMissing(one.name, other.name)) return false;
  return isSameOrMissing(one.arguments, other.arguments) || hasSameValue(one.arguments, other.arguments);
}

function isSameOrMissing(one: string, other: string): boolean {
  return one === other || one === '' || other === '';
}

function hasSameValue(one: string, other: string): boolean {
  const value = valueIn(one);
  return value !== undefined && canonicalJson(value) === canonicalJson(valueIn(other));
}

/** Arguments may be encoded twice: as a JSON string that holds their JSON. */
function valueIn(args: string): unknown {
  const value = parsedJson(args);
  return typeof value === 'string' ? parsedJson(value) : value;
}

function complete(call: PartialCall, { name, arguments: args, extraContent }: PartialCall): void {
  call.name ||= name;
  call.arguments ||= args;
  call.extraContent ??= extraContent;
}

const MAX_COPIES = 8;

/** Arguments whose JSON was sent several times, once; all others unchanged. */
function oneCopy(args: string): string {
  if (args === '' || isJson(args)) return args;
  for (let copies = 2; copies <= MAX_COPIES; copies += 1) {
    const copy = args.slice(0, args.length / copies);
    if (copy.repeat(copies) === args && isJson(copy)) return copy;
  }
  return args;
}
