import type { LlmConfig } from '../../config/schema/llm-config.ts';
import type { ServiceError } from '../../core/errors.ts';
import { blameOf, namesModel, settingsOf } from './blame.ts';
import type { Check, CheckName, RequestFacts } from './check.ts';

const NOT_TRIED: readonly CheckName[] = ['streaming', 'tool call', 'tool result', 'image'];

/** The checks after a failed first request. No other request is made: it would fail for the same reason. */
export function refusedAtOnce(failure: ServiceError, request: RequestFacts, llm: LlmConfig): Check[] {
  return [
    { ...provider(failure), request },
    model(failure),
    ...NOT_TRIED.map((name): Check => ({ name, finding: 'unknown', outcome: 'not tried' })),
    settings(failure, llm),
  ];
}

/** The reason of the failure names the field of the request, and so the setting. */
export function settingRefused(failure: ServiceError): Check {
  return failed('settings', 'a setting is refused', failure);
}

function provider(failure: ServiceError): Check {
  const blame = blameOf(failure);
  if (blame === 'provider') return failed('provider', 'no reply', failure);
  if (blame === 'model' && !namesModel(failure)) return unknown('provider', 'key and address are not known');
  // Without a status nothing was sent: the service refuses some settings itself.
  if (blame === 'setting' && failure.details.status === undefined) return unknown('provider', 'not known');
  return { name: 'provider', finding: 'yes', outcome: 'answers' };
}

function model(failure: ServiceError): Check {
  const blame = blameOf(failure);
  switch (blame) {
    case 'model':
      return failed('model', 'does not exist, or not for you', failure);
    case 'request':
      return failed('model', 'refuses a plain request', failure);
    case 'provider':
    case 'setting':
      return unknown('model', 'not known');
    default:
      return blame satisfies never;
  }
}

function settings(failure: ServiceError, llm: LlmConfig): Check {
  if (blameOf(failure) === 'setting') return settingRefused(failure);
  return unknown('settings', settingsOf(llm).length === 0 ? 'none is set' : 'not known');
}

function unknown(name: CheckName, outcome: string): Check {
  return { name, finding: 'unknown', outcome };
}

function failed(name: CheckName, outcome: string, { details }: ServiceError): Check {
  return { name, finding: 'no', outcome, advice: String(details.reason), isFailure: true, error: details };
}
