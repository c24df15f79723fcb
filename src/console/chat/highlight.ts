import { common, createLowlight } from 'lowlight';

type Root = ReturnType<ReturnType<typeof createLowlight>['highlight']>;
export type HighlightedNode = Root['children'][number];

const lowlight = createLowlight(common);

/** The code as a tree with class names, or null for a language that is not known. */
export function highlighted(code: string, language: string): readonly HighlightedNode[] | null {
  return lowlight.registered(language) ? lowlight.highlight(language, code).children : null;
}
