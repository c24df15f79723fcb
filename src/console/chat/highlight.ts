import { common, createLowlight } from 'lowlight';

type Root = ReturnType<ReturnType<typeof createLowlight>['highlight']>;
export type HighlightedNode = Root['children'][number];

const lowlight = createLowlight(common);

/** A longer code would take the page seconds: it has about one element for each five characters. */
const MOST_CHARACTERS = 50_000;

/** The code as a tree with class names, or null for a language that is not known and for a very long code. */
export function highlighted(code: string, language: string): readonly HighlightedNode[] | null {
  if (code.length > MOST_CHARACTERS) return null;
  return lowlight.registered(language) ? lowlight.highlight(language, code).children : null;
}
