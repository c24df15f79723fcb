import { existsSync } from 'node:fs';
import { join, posix } from 'node:path';
import { projectRoot } from '../project/source-imports.ts';
import { readDocument } from './documents.ts';

/** Folders whose files the documents name by their path from the project's root. */
const PATH = /^(?:src|machines|test|bench|docs|ops|agents|bin|build)\//;

/** What a document points to that is not there: relative links, their anchors, and paths in backticks. */
export function brokenReferences(file: string, markdown: string): string[] {
  const text = withoutCodeBlocks(markdown);
  const paths = [...text.matchAll(/`([^`\n]+)`/g)]
    .map(([, code = '']) => code)
    .filter((code) => PATH.test(code));
  const links = [...text.matchAll(/\]\((?![a-z]+:)([^)\s]+)\)/g)].map(([, target = '']) => target);
  return [
    ...paths.filter((path) => !existsSync(join(projectRoot, path))),
    ...links.filter((target) => !leadsSomewhere(file, markdown, target)),
  ];
}

function leadsSomewhere(file: string, markdown: string, target: string): boolean {
  const [path = '', anchor] = target.split('#');
  const found = path === '' ? file : posix.join(posix.dirname(file), path);
  if (!existsSync(join(projectRoot, found))) return false;
  if (anchor === undefined) return true;
  return anchors(path === '' ? markdown : readDocument(found)).includes(anchor);
}

/** The anchors that GitHub gives to the headings of a document. */
function anchors(markdown: string): string[] {
  const headings = [...withoutCodeBlocks(markdown).matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) =>
    heading
      .trim()
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  );
  return headings.map((anchor, index) => {
    const before = headings.slice(0, index).filter((other) => other === anchor).length;
    return before === 0 ? anchor : `${anchor}-${before}`;
  });
}

export function withoutCodeBlocks(markdown: string): string {
  return markdown.replaceAll(/^```.*?^```$/gms, '');
}
