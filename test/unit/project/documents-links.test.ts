import { describe, expect, it } from 'vitest';
import { brokenReferences, withoutCodeBlocks } from '../../support/documents/document-references.ts';
import { documentFiles, readDocument } from '../../support/documents/documents.ts';

/** The titles in the list of links before the first section. */
function contentsOf(text: string): string[] {
  const [beginning = ''] = text.split(/^## /m);
  return [...beginning.matchAll(/^- \[(.+)\]\(#[^)]+\)$/gm)].map(([, title = '']) => title);
}

function sectionsOf(text: string): string[] {
  return [...withoutCodeBlocks(text).matchAll(/^## (.+)$/gm)].map(([, title = '']) => title);
}

describe('the documents', () => {
  it('are found', () => {
    expect(documentFiles).toEqual(
      expect.arrayContaining(['README.md', 'CHANGELOG.md', 'docs/guide.md', 'docs/decisions/README.md']),
    );
    expect(documentFiles.length).toBeGreaterThan(40);
  });

  it.each(documentFiles)('point only to files and headings that exist: %s', (file) => {
    expect(brokenReferences(file, readDocument(file))).toEqual([]);
  });

  it('would be reported if they pointed elsewhere', () => {
    const text = [
      '# A heading, with `code`',
      'Fine: `src/app/main.ts`, `npm test`, [here](#a-heading-with-code), [there](../README.md#start), <https://example.com>.',
      'Broken: `src/nothing.ts`, [a file](nothing.md), [a heading](#nothing), [both](../README.md#nothing).',
      '```',
      'Not looked at: `src/nothing-either.ts`',
      '```',
    ].join('\n');
    expect(brokenReferences('docs/guide.md', text)).toEqual([
      'src/nothing.ts',
      'nothing.md',
      '#nothing',
      '../README.md#nothing',
    ]);
  });

  it.each(documentFiles.filter((file) => contentsOf(readDocument(file)).length > 0))(
    'have every section in their table of contents: %s',
    (file) => {
      const text = readDocument(file);
      expect(contentsOf(text)).toEqual(sectionsOf(text));
    },
  );

  it('begin with a README of two screens', () => {
    expect(readDocument('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(200);
  });

  it('have an index of decisions that lists each of them once', () => {
    const decisions = documentFiles.filter((file) => /^docs\/decisions\/\d{4}-/.test(file));
    const listed = [...readDocument('docs/decisions/README.md').matchAll(/\]\((\d{4}-[^)]+)\)/g)].map(
      ([, name]) => `docs/decisions/${name}`,
    );
    expect(listed.toSorted()).toEqual(decisions);
  });

  it('have decisions of one form', () => {
    for (const file of documentFiles.filter((name) => /^docs\/decisions\/\d{4}-/.test(name))) {
      const number = /\d{4}/.exec(file)?.[0];
      const headings = readDocument(file).match(/^(?:#+ |Date: ).*$/gm) ?? [];
      expect(headings, file).toEqual([
        expect.stringMatching(new RegExp(`^# ${number}\\. \\S`)),
        expect.stringMatching(/^Date: \d{4}-\d{2}-\d{2}$/),
        '## Context',
        '## Decision',
        '## Consequences',
      ]);
    }
  });
});
