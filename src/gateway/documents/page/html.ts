/** Markup, which needs no escaping. */
export class Html {
  readonly markup: string;

  constructor(markup: string) {
    this.markup = markup;
  }
}

type Content = Html | string | number | undefined | readonly Content[];

/** Builds markup. Inserted values that are not `Html` are escaped. */
export function html(parts: TemplateStringsArray, ...contents: readonly Content[]): Html {
  return new Html(String.raw({ raw: parts }, ...contents.map(markupOf)));
}

function markupOf(content: Content): string {
  if (content === undefined) return '';
  if (content instanceof Html) return content.markup;
  if (typeof content === 'string' || typeof content === 'number') return escaped(String(content));
  return content.map(markupOf).join('');
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}

/** Turns text with `code` in backticks into markup. */
export function prose(text: string): Html {
  const parts = text.split('`');
  return html`${parts.map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))}`;
}
