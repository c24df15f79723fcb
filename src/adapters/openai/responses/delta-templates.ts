import { EventTemplate } from '../../../model-http/reply/event-template.ts';
import { stringIn } from '../../../model-http/reply/json.ts';
import { outputIndexOf, parsedData, TEXT_DELTA } from './response-event.ts';

/** More items than a response has before its text. A server may send any index. */
const MAX_TEMPLATES = 16;

/** The templates of a model for text deltas, one for each `output_index`, because that tells the messages apart. */
export class DeltaTemplates {
  readonly #byIndex = new Map<number | undefined, EventTemplate>();

  /** @param index undefined for events without one. */
  of(index: number | undefined): EventTemplate {
    const known = this.#byIndex.get(index);
    if (known) return known;
    if (this.#byIndex.size === MAX_TEMPLATES) this.#byIndex.clear();
    const template = new EventTemplate((data) => deltaAt(index, data));
    this.#byIndex.set(index, template);
    return template;
  }
}

function deltaAt(index: number | undefined, data: string): string | undefined {
  const parsed = parsedData(data);
  if (parsed.kind !== 'object' || parsed.value.type !== TEXT_DELTA) return undefined;
  return outputIndexOf(parsed.value) === index ? stringIn(parsed.value.delta) || undefined : undefined;
}
